import type { Hunk } from "./hunk"

export type PatchSide = { path: string; mode: string } | null

const range = (start: number, count: number) => {
  const from = count === 0 ? start - 1 : start
  return count === 1 ? `${from}` : `${from},${count}`
}

const NO_NEWLINE = "\\ No newline at end of file\n"

const written = (line: string) => (line.endsWith("\n") ? line : `${line}\n${NO_NEWLINE}`)

/** A name as git writes it: in quotes, with what could break a line escaped. */
export function quoted(name: string): string {
  if (!/["\\\p{Cc}]/u.test(name)) return name
  return `"${name.replaceAll(/["\\\p{Cc}]/gu, (letter) => {
    if (letter === '"' || letter === "\\") return `\\${letter}`
    return `\\${letter.charCodeAt(0).toString(8).padStart(3, "0")}`
  })}"`
}

function heading(before: PatchSide, after: PatchSide): string[] {
  const from = before ?? after
  const to = after ?? before
  if (!from || !to) return []
  const first = `diff --git ${quoted(`a/${from.path}`)} ${quoted(`b/${to.path}`)}`
  if (!before) return [first, `new file mode ${to.mode}`]
  if (!after) return [first, `deleted file mode ${from.mode}`]
  return [
    first,
    ...(from.mode === to.mode ? [] : [`old mode ${from.mode}`, `new mode ${to.mode}`]),
    ...(from.path === to.path ? [] : [`rename from ${quoted(from.path)}`, `rename to ${quoted(to.path)}`]),
  ]
}

/** A change of a text file as a patch that git and every other tool can read. */
export function unified(before: PatchSide, after: PatchSide, hunks: readonly Hunk[]): string {
  const names = [
    `--- ${before ? quoted(`a/${before.path}`) : "/dev/null"}`,
    `+++ ${after ? quoted(`b/${after.path}`) : "/dev/null"}`,
  ]
  // A name with a blank in it needs a tab behind it, or its end could not be told.
  const closed = names.map((name) => (name.includes(" ", 4) && !name.endsWith('"') ? `${name}\t` : name))
  let shift = 0
  const body = hunks.map((hunk) => {
    const new_start = hunk.old_start + shift
    shift += hunk.new_lines - hunk.old_lines
    return (
      `@@ -${range(hunk.old_start, hunk.old_lines)} +${range(new_start, hunk.new_lines)} @@\n` +
      hunk.lines.map(written).join("")
    )
  })
  return (
    [...heading(before, after), ...(hunks.length > 0 ? closed : [])].map((line) => `${line}\n`).join("") + body.join("")
  )
}
