import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { WORDS } from "../../app/src/lib/words"
import { clean, oneLine } from "../../opencode/src/cli/clean"
import { problemOf, say, tell } from "./say"
import type { Source } from "./source"
import { passOption, type Seen } from "./view"

export type OrdersInput = { api: TuiPluginApi; source: Pick<Source, "look" | "order"> }

type Kind = Parameters<Source["order"]>[1]

const TEXT = {
  cancel: { which: WORDS.now.terminal.cancel, title: WORDS.now.cancel_title, told: WORDS.now.cancel_text },
  message: { which: WORDS.now.terminal.speak, title: WORDS.now.speak_title, told: WORDS.now.speak_text },
} as const

const FIELD = { cancel: WORDS.now.cancel_reason, message: WORDS.now.speak_label } as const

async function send({ api, source }: OrdersInput, { pass }: Seen, kind: Kind, text: string) {
  api.ui.dialog.clear()
  const said = await source
    .order(pass.id, kind, text)
    .catch((error: unknown) => ({ ok: false, text: problemOf(error) }))
  say(api, clean(said.text), said.ok ? "success" : "error")
}

/** Asks for the words that go with it. Nothing is sent before they are confirmed. */
function ask(input: OrdersInput, seen: Seen, kind: Kind) {
  const { api } = input
  const { DialogPrompt } = api.ui
  const { title, told } = TEXT[kind]
  api.ui.dialog.replace(() => (
    <DialogPrompt
      title={title(oneLine(seen.pass.subagent_id))}
      placeholder={FIELD[kind]}
      description={() => (
        <text fg={api.theme.current.textMuted} wrapMode="word">
          {`${told} ${oneLine(seen.pass.objective)}`}
        </text>
      )}
      onConfirm={(text) => {
        // There is nothing to hear in nothing; a pass may be ended without a word.
        if (kind === "message" && text.trim() === "") return
        void send(input, seen, kind, text.trim())
      }}
      onCancel={() => api.ui.dialog.clear()}
    />
  ))
}

/** The session that is looked at just now. */
export function sessionOf({ route: { current } }: TuiPluginApi): string | undefined {
  if (current.name !== "session") return undefined
  return (current.params as { sessionID?: string } | undefined)?.sessionID
}

/** Ends a running pass, or speaks to its child: the one that is looked at, the only one, or one of a list. */
export async function showOrder(input: OrdersInput, kind: Kind) {
  const { api, source } = input
  const { DialogSelect } = api.ui
  // What has just begun is meant as well.
  const { running = [] } = (await source.look(true)) ?? {}
  const [only] = running
  if (!only) return tell(api, "Passes", WORDS.now.terminal.nothing)
  const here = running.find(({ pass }) => pass.child_session_id !== null && pass.child_session_id === sessionOf(api))
  if (here) return ask(input, here, kind)
  if (running.length === 1) return ask(input, only, kind)
  const now = Date.now()
  api.ui.dialog.replace(() => (
    <DialogSelect
      title={TEXT[kind].which}
      options={running.map((seen) => passOption(seen, now, api.renderer.width))}
      onSelect={({ value }) => {
        const seen = running.find(({ pass }) => pass.id === value)
        if (seen) ask(input, seen, kind)
      }}
    />
  ))
  api.ui.dialog.setSize("large")
}
