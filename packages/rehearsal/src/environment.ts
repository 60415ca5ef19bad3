import { delimiter, join } from "node:path"
import type { Layout } from "./layout"

// Passed on from the caller because programs need them. Anything else, and with it every key and every OPENCODE_*
// setting of the developer, stays outside.
const PASSED = ["LANG", "LC_ALL", "USER", "LOGNAME", "SHELL", "SystemRoot", "COMSPEC", "PATHEXT"]

/** Offline, quiet, and with nothing of the developer's own opencode in reach. */
export function environment(layout: Layout, extra: Record<string, string>): Record<string, string> {
  const passed = PASSED.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...Object.fromEntries(passed),
    PATH: [layout.bin, process.env["PATH"] ?? ""].join(delimiter),
    TERM: "xterm-256color",
    TMPDIR: layout.tmp,
    HOME: layout.home,
    OPENCODE_TEST_HOME: layout.home,
    XDG_DATA_HOME: layout.data,
    XDG_CONFIG_HOME: layout.config,
    XDG_STATE_HOME: layout.state,
    XDG_CACHE_HOME: layout.cache,
    OPENCODE_TEST_MANAGED_CONFIG_DIR: join(layout.root, "managed"),
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    OPENCODE_DISABLE_TERMINAL_TITLE: "1",
    OPENCODE_DISABLE_CLAUDE_CODE: "1",
    // Where something does ask for a package, it fails in seconds and not after a minute of retries.
    npm_config_registry: "http://127.0.0.1:1/",
    npm_config_fetch_retries: "0",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "Rehearsal",
    GIT_AUTHOR_EMAIL: "rehearsal@localhost",
    GIT_COMMITTER_NAME: "Rehearsal",
    GIT_COMMITTER_EMAIL: "rehearsal@localhost",
    // Inherited by everything that is started here: this is how leaked processes are found.
    [MARKER]: layout.root,
    ...extra,
  }
}

export const MARKER = "REHEARSAL_ROOT"
