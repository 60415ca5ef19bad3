import type { TuiPluginApi, TuiPluginModule } from "@opencode-ai/plugin/tui"
import { createSignal, For, Show } from "solid-js"
import { join } from "node:path"
import { showHistory } from "./history"
import { createInbox } from "./inbox"
import { sessionOf, showOrder } from "./orders"
import { showPair, showPreferences } from "./preferences"
import { problemOf, say, tell } from "./say"
import type { Snapshot, Source } from "./source"
import { badge, rows } from "./view"

const LOOK_MS = 500

// The terminal is drawn by then. Whoever asks for something sooner has it sooner.
const DRAWN_MS = 250

const NOTHING: Snapshot = { running: [], gates: [] }

/** The agents that opencode has for this project, its user's own among them. */
async function agentsOf(api: TuiPluginApi, directory: string) {
  const { data, error } = await api.client.app.agents({ directory })
  if (!data) throw new Error(`opencode did not say which agents there are: ${problemOf(error)}`)
  return data.map(({ name, mode, hidden }) => ({ name, mode, ...(hidden === undefined ? {} : { hidden }) }))
}

/** The database and its libraries, loaded beside opencode's start and not before it. */
async function connect(api: TuiPluginApi): Promise<Source> {
  const directory = api.state.path.directory || process.cwd()
  const [{ announceSurface }, { openSource }] = await Promise.all([
    import("../../opencode/src/surface"),
    import("./source"),
  ])
  const source = openSource(directory, () => agentsOf(api, directory))
  if ("problem" in source) throw new Error(source.problem)
  api.lifecycle.onDispose(announceSurface())
  return source
}

/** Looks at the database as long as the terminal lives; a countdown moves once a second while something runs. */
function watch(api: TuiPluginApi) {
  const [snapshot, setSnapshot] = createSignal<Snapshot>(NOTHING)
  const [now, setNow] = createSignal(Date.now())
  const begin = (source: Source) => {
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
    return source
  }
  const state: { connected?: Promise<Source> } = {}
  const connected = () => (state.connected ??= connect(api).then(begin))
  const timer = setTimeout(() => {
    connected().catch((error: unknown) =>
      api.ui.toast({ title: "Pass Over", message: problemOf(error), variant: "warning", duration: 10_000 }),
    )
  }, DRAWN_MS)
  api.lifecycle.onDispose(() => clearTimeout(timer))
  return { snapshot, now, connected }
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
      say(api, line || "The panel could not be opened.", code === 0 ? "info" : "error")
    },
  )
}

/** Back from a child to the session that its pass came from. */
async function goBack(api: TuiPluginApi, source: Source) {
  const here = sessionOf(api)
  const sessionID = here && (await source.origin(here))
  if (sessionID) return api.route.navigate("session", { sessionID })
  say(api, "This is no session of a pass.")
}

async function tui(api: TuiPluginApi) {
  const { snapshot, now, connected } = watch(api)
  const inbox = createInbox(api, async (...answer) => (await connected()).answer(...answer), snapshot)

  /** What needs the database says so where there is none. */
  const using = (run: (source: Source) => void | Promise<void>) => () =>
    void connected()
      .then(run)
      .catch((error: unknown) => tell(api, "Pass Over", problemOf(error)))
  const history = ({ history, changes, preferences }: Source) =>
    showHistory({
      api,
      history,
      changes,
      snapshot,
      preferences: (from, to) => showPair({ api, preferences }, from, to),
      panel: () => openPanel(api),
    })

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
      command("list", "Passes of this project", "pass-over", using(history)),
      command(
        "inbox",
        "What waits for you",
        "inbox",
        using(() => inbox.show()),
      ),
      command(
        "preferences",
        "Preferences: who may pass what to whom",
        "preferences",
        using(({ preferences }) => showPreferences({ api, preferences })),
      ),
      command(
        "speak",
        "Speak to a child that is at work",
        "pass-over-speak",
        using((source) => showOrder({ api, source }, "message")),
      ),
      command(
        "cancel",
        "End a pass that runs",
        "pass-over-cancel",
        using((source) => showOrder({ api, source }, "cancel")),
      ),
      command(
        "back",
        "Back to the session that passed this on",
        undefined,
        using((source) => goBack(api, source)),
      ),
      command("panel", "Open the panel of Pass Over", "panel", () => openPanel(api)),
    ],
  })
}

const plugin: TuiPluginModule = { id: "opencode-pass-over-tui", tui }

export default plugin
