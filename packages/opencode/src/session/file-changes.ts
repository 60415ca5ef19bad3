type FileChange = { path: string; old_content: string; new_content: string }

type Call = { tool: string; title?: string; input: Record<string, unknown>; metadata: Record<string, unknown> }

const text = (value: unknown) => (typeof value === "string" ? value : undefined)

/** The host's title of a file tool is the path as the project has it; its metadata has the absolute one. */
const local = (title: string | undefined, path: string) => (title && path.endsWith(`/${title}`) ? title : path)

/** What a patch adds to nothing: both sides are known, because one of them is empty. */
function added(patch: string): string | undefined {
  const lines = patch.split("\n")
  const head = lines.findIndex((line) => line.startsWith("@@"))
  // What looks like a line of the head stands in the file itself.
  const inside = lines.slice(head + 1)
  if (head < 0 || inside.some((line) => line.startsWith("-") || line.startsWith(" "))) return undefined
  const body = inside.filter((line) => line.startsWith("+")).map((line) => line.slice(1))
  return `${body.join("\n")}${inside.some((line) => line.startsWith("\\")) ? "" : "\n"}`
}

function patched(file: unknown): FileChange[] {
  if (typeof file !== "object" || file === null) return []
  const { relativePath, filePath, type, patch } = file as Record<string, unknown>
  const path = text(relativePath) ?? text(filePath)
  const new_content = type === "add" && typeof patch === "string" ? added(patch) : undefined
  return path === undefined || new_content === undefined ? [] : [{ path, old_content: "", new_content }]
}

/**
 * The changes of a finished call whose both sides the host tells exactly: new files. Of edits it keeps a shortened patch
 * only; those come from the snapshots, by another way.
 */
export function fileChanges({ tool, title, input, metadata }: Call): FileChange[] {
  if (tool === "apply_patch") return Array.isArray(metadata.files) ? metadata.files.flatMap(patched) : []
  const path = text(metadata.filepath) ?? text(input.filePath)
  const content = text(input.content)
  if (tool !== "write" || metadata.exists !== false || path === undefined || content === undefined) return []
  return [{ path: local(title, path), old_content: "", new_content: content }]
}
