import { readFileSync, statSync } from "node:fs"

/** What is at a path: nothing, its text, or why it cannot be read. Nothing that is looked into ends a command. */
export type FileText = { state: "absent" } | { state: "text"; text: string } | { state: "unreadable"; problem: string }

const PROBLEMS: Record<string, string> = {
  EACCES: "you may not read it",
  EPERM: "you may not read it",
  ELOOP: "it is a link that leads back to itself",
}

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "")

export function readText(path: string): FileText {
  try {
    const found = statSync(path)
    // A pipe or a device in its place would never end.
    if (!found.isFile())
      return { state: "unreadable", problem: found.isDirectory() ? "it is a folder" : "it is not a file" }
    return { state: "text", text: readFileSync(path, "utf8") }
  } catch (error) {
    const code = codeOf(error)
    if (code === "ENOENT" || code === "ENOTDIR") return { state: "absent" }
    return { state: "unreadable", problem: PROBLEMS[code] ?? (error instanceof Error ? error.message : String(error)) }
  }
}

/** Its text where it can be read. */
export function textAt(path: string): string | undefined {
  const found = readText(path)
  return found.state === "text" ? found.text : undefined
}
