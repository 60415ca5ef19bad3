import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { createEffect, createRoot } from "solid-js"
import { oneLine } from "../../opencode/src/cli/clean"
import type { Gate, GateVerdict } from "../../opencode/src/pass-over/domain/gate"
import { DetailDialog } from "./detail"
import { rowsOf } from "./lines"
import { problemOf, say } from "./say"
import type { Snapshot, Source } from "./source"
import { choicesOf, gateOption, optionsOf, sectionsOf, titleOf } from "./view"

const ASKS = {
  approve: "What goes along with your yes?",
  reject: "Why not?",
  question: "What do you want to know?",
} as const satisfies Record<GateVerdict, string>

/** Asks the user for a word to go with their answer. */
function word(api: TuiPluginApi, verdict: GateVerdict, said: (text: string | null) => void, close: () => void) {
  const { DialogPrompt } = api.ui
  api.ui.dialog.replace(() => (
    <DialogPrompt
      title={ASKS[verdict]}
      placeholder="A word to the agent"
      onConfirm={(text) => said(text.trim() || null)}
      onCancel={close}
    />
  ))
}

/** Everything that stands behind a question, to be gone through; the answers are one key away. */
function read(api: TuiPluginApi, gate: Gate, back: () => void) {
  const sections = sectionsOf(gate)
  api.ui.dialog.replace(() => (
    <DetailDialog
      api={api}
      title={titleOf(gate)}
      head={oneLine(gate.policy)}
      rows={(width) => rowsOf(sections, width)}
      keys={[{ key: "left", shown: "←", text: "answer it", run: back }]}
    />
  ))
  api.ui.dialog.setSize("large")
}

/** The questions that wait, and the answering of one. A new one shows itself when no other dialog is open. */
export function createInbox(api: TuiPluginApi, answering: Source["answer"], snapshot: () => Snapshot) {
  const { DialogSelect } = api.ui
  const shown = new Set<string>()
  const open = { gate_id: undefined as string | undefined }
  const close = () => {
    open.gate_id = undefined
    api.ui.dialog.clear()
  }

  async function answer(gate: Gate, verdict: GateVerdict, note: string | null) {
    close()
    const problem = await answering(gate.gate_id, verdict, note).catch(problemOf)
    if (problem) say(api, problem)
  }

  function ask(gate: Gate) {
    const choices = choicesOf(gate)
    open.gate_id = gate.gate_id
    shown.add(gate.gate_id)
    api.ui.dialog.replace(
      () => (
        <DialogSelect
          title={titleOf(gate)}
          placeholder={oneLine(gate.policy)}
          skipFilter
          options={optionsOf(gate)}
          onSelect={(option) => {
            if (option.value === choices.length) {
              read(api, gate, () => ask(gate))
              open.gate_id = gate.gate_id
              return
            }
            const choice = choices[option.value]
            if (choice?.note) return word(api, choice.value, (text) => void answer(gate, choice.value, text), close)
            if (choice) void answer(gate, choice.value, null)
          }}
        />
      ),
      () => (open.gate_id = undefined),
    )
    // The host makes every new dialog a small one.
    api.ui.dialog.setSize("large")
  }

  api.lifecycle.onDispose(
    follow(snapshot, {
      gone: (gates) => open.gate_id !== undefined && !gates.some((gate) => gate.gate_id === open.gate_id),
      onGone() {
        close()
        say(api, "This was answered elsewhere.")
      },
      // New, and nobody is busy: it comes by itself.
      onFresh(gates) {
        const fresh = gates.find((gate) => !shown.has(gate.gate_id))
        if (fresh && !api.ui.dialog.open) ask(fresh)
      },
    }),
  )

  return {
    show: () => list(api, snapshot().gates, ask, close),
  }
}

/** Everything that waits, to choose from. */
function list(api: TuiPluginApi, gates: readonly Gate[], ask: (gate: Gate) => void, close: () => void) {
  const { DialogSelect, DialogAlert } = api.ui
  const now = Date.now()
  api.ui.dialog.replace(() =>
    gates.length === 0 ? (
      <DialogAlert title="Inbox" message="Nothing waits for you." onConfirm={close} />
    ) : (
      <DialogSelect
        title="What waits for you"
        options={gates.map((gate) => gateOption(gate, now))}
        onSelect={(option) => {
          const gate = gates.find((each) => each.gate_id === option.value)
          if (gate) ask(gate)
        }}
      />
    ),
  )
}

type Follow = { gone(gates: Gate[]): boolean; onGone(): void; onFresh(gates: Gate[]): void }

/** Hears of every change of what waits, as long as the terminal lives. */
const follow = (snapshot: () => Snapshot, { gone, onGone, onFresh }: Follow) =>
  createRoot((stop) => {
    createEffect(() => {
      const { gates } = snapshot()
      if (gone(gates)) onGone()
      onFresh(gates)
    })
    return stop
  })
