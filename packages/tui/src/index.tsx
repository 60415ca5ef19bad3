import type { TuiPluginApi, TuiPluginModule } from "@opencode-ai/plugin/tui"
import { createSignal, For, Show } from "solid-js"
import { join } from "node:path"
import { createInbox } from "./inbox"
import { announceSurface, NOTHING, openSource, type Snapshot, type Source } from "./source"
import { badge, passOption, rows } from "./view"

const LOOK_MS = 500

/** Looks at the database as long as the terminal lives; a countdown moves once a second while something runs. */
function watch(api: TuiPluginApi, source: Source) {
  const [snapshot, setSnapshot] = createSignal<Snapshot>(NOTHING)
  const [now, setNow] = createSignal(Date.now())
  const timer = setInterval(() => {
    void source
      .look()
      .then((found) => found && setSnapshot(found))
      .catch(() => {})
    if (snapshot().running.length > 0) setNow(Date.now())
  }, LOOK_MS)
  api.lifecycle.onDispose(() => {
    clearInterval(timer)
    source.close()
  })
  return { snapshot, now }
}

function Sidebar(props: { api: TuiPluginApi; snapshot: Snapshot; now: number }) {
  const theme = () => props.api.theme.current
  const list = () => rows(props.snapshot.running, props.now)
  const go = (child: string | null) => child !== null && props.api.route.navigate("session", { sessionID: child })
  return (
    <Show when={list().length > 0 || props.snapshot.gates.length > 0}>
      <box flexDirection="column">
        <text fg={theme().text}>
          <b>Passes</b>
        </text>
        <For each={list()}>
          {(row) => (
            <box flexDirection="column" paddingLeft={row.depth * 2} onMouseUp={() => go(row.child)}>
              <text fg={theme().text}>{row.label}</text>
              <text fg={row.waits ? theme().warning : theme().textMuted}>{`  ${row.state}`}</text>
            </box>
          )}
        </For>
        <Show when={props.snapshot.gates.length > 0}>
          <text fg={theme().warning}>{badge(props.snapshot.gates.length)}</text>
        </Show>
      </box>
    </Show>
  )
}

/** Opens the panel with the command of the same package, on opencode's own binary. */
function openPanel(api: TuiPluginApi) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "cli.js"), "open"], {
    cwd: api.state.path.directory,
    env: { ...process.env, BUN_BE_BUN: "1" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  void Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]).then(
    ([out, error, code]) => {
      const [line = ""] = (code === 0 ? out : error || out).trim().split("\n")
      api.ui.toast({
        title: "Pass Over",
        message: line || "The panel could not be opened.",
        variant: code === 0 ? "info" : "error",
      })
    },
  )
}

function showPasses(api: TuiPluginApi, snapshot: () => Snapshot) {
  const { DialogSelect, DialogAlert } = api.ui
  const now = Date.now()
  const options = snapshot().recent.map((seen) => passOption(seen, now))
  api.ui.dialog.replace(() =>
    options.length === 0 ? (
      <DialogAlert title="Passes" message="No passes in this project yet." onConfirm={() => api.ui.dialog.clear()} />
    ) : (
      <DialogSelect
        title="Passes · Enter goes to the child's session"
        options={options}
        onSelect={(option) => {
          api.ui.dialog.clear()
          api.route.navigate("session", { sessionID: option.value })
        }}
      />
    ),
  )
}

/** Back from a child to the session that its pass came from. */
function goBack(api: TuiPluginApi, snapshot: () => Snapshot) {
  const { current } = api.route
  const here =
    current.name === "session" ? (current.params as { sessionID?: string } | undefined)?.sessionID : undefined
  const from = snapshot().recent.find(({ pass }) => pass.child_session_id === here)
  if (from) return api.route.navigate("session", { sessionID: from.pass.session_id })
  api.ui.toast({ title: "Pass Over", message: "This is no session of a pass.", variant: "info" })
}

async function tui(api: TuiPluginApi) {
  const source = openSource(api.state.path.directory || process.cwd())
  if ("problem" in source) {
    api.ui.toast({ title: "Pass Over", message: source.problem, variant: "warning", duration: 10_000 })
    return
  }
  api.lifecycle.onDispose(announceSurface())
  const { snapshot, now } = watch(api, source)
  const inbox = createInbox(api, source, snapshot)

  api.slots.register({
    order: 350,
    slots: {
      sidebar_content: () => <Sidebar api={api} snapshot={snapshot()} now={now()} />,
      session_prompt_right: () => <text fg={api.theme.current.warning}>{badge(snapshot().gates.length)}</text>,
      home_prompt_right: () => <text fg={api.theme.current.warning}>{badge(snapshot().gates.length)}</text>,
    },
  })
  const command = (name: string, title: string, slashName: string | undefined, run: () => void) => ({
    name: `pass-over.${name}`,
    title,
    category: "Pass Over",
    namespace: "palette",
    ...(slashName ? { slashName } : {}),
    run,
  })
  api.keymap.registerLayer({
    commands: [
      command("list", "Passes of this project", "pass-over", () => showPasses(api, snapshot)),
      command("inbox", "What waits for you", "inbox", () => inbox.show()),
      command("back", "Back to the session that passed this on", undefined, () => goBack(api, snapshot)),
      command("panel", "Open the panel of Pass Over", "panel", () => openPanel(api)),
    ],
  })
}

const plugin: TuiPluginModule = { id: "opencode-pass-over-tui", tui }

export default plugin
