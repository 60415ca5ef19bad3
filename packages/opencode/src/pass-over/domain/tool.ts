/** The host's own tools, by what they do. What is in none of these may do anything. */

/** They look into the project and change nothing. */
export const READERS: readonly string[] = ["read", "grep", "glob", "list"]

/** They change nothing, wherever they look. What reaches the network is among them: it reads. */
export const LOOKING: readonly string[] = [
  ...READERS,
  "lsp",
  "skill",
  "todowrite",
  "todoread",
  "webfetch",
  "websearch",
  "codesearch",
]

/** They change files, and say which. */
export const WRITERS: readonly string[] = ["edit", "write", "patch", "apply_patch", "multiedit"]

/** They run whatever they are told. */
export const SHELLS: readonly string[] = ["bash", "shell"]

// The user's answer to a question is none of the child's doing.
const TALKING = ["question", "pass_over_read"]

/** Whether a call has certainly left nothing behind, so that its pass may be begun anew. */
export const looksOnly = (tool: string) => LOOKING.includes(tool) || TALKING.includes(tool)

/** Whether a call changes no file by itself; what a pass or a flow changes is that one's. */
export const changesNothing = (tool: string) => looksOnly(tool) || tool.startsWith("pass_over") || tool === "flow"
