/** A piece of a file that is to be another. It has to stand there exactly once. */
export type Replacement = { old_string: string; new_string: string }

/** What a child wants a file to become: all of it, or pieces of it, or nothing. */
export type Wish = {
  path: string
  old_content?: string | undefined
  new_content?: string | undefined
  edits?: readonly Replacement[] | undefined
  deleted?: boolean | undefined
}

export type Proposed = { ok: true; text: string | null } | { ok: false; problem: string }

const no = (problem: string): Proposed => ({ ok: false, problem })

const count = (text: string, piece: string) => text.split(piece).length - 1

const BOM = "\uFEFF"
const bare = (text: string) => (text.startsWith(BOM) ? text.slice(1) : text)

/**
 * A child is shown neither a file's mark at its beginning nor how its lines end, so what it says is taken in the file's
 * own way. A file of mixed endings has none.
 */
function inItsWay(real: string): (text: string) => string {
  const crlf = real.includes("\r\n") && !/(?<!\r)\n/.test(real)
  return (text) => (crlf ? text.replaceAll(/\r?\n/g, "\r\n") : text)
}

function replaced(text: string, edits: readonly Replacement[]): Proposed {
  let now = text
  for (const [index, { old_string, new_string }] of edits.entries()) {
    const times = old_string === "" ? 0 : count(now, old_string)
    if (times !== 1) {
      const why = times === 0 ? "is not in the file" : `is in the file ${times} times; give more of the lines around it`
      return no(`the old_string of edit ${index + 1} ${why}`)
    }
    // A function, or "$&" in the new text would mean something.
    now = now.replace(old_string, () => new_string)
  }
  return { ok: true, text: now }
}

/** Checks a wish against the file as it is. `real` is null where there is none. */
export function propose(real: string | null, wish: Wish): Proposed {
  const { old_content, new_content, deleted } = wish
  const own = inItsWay(real ?? "")
  const edits = wish.edits?.map((edit) => ({ old_string: own(edit.old_string), new_string: own(edit.new_string) }))
  // A model repeats a content from memory; where it does, it has to be right, or it speaks of another file.
  if (old_content && (real === null || own(bare(old_content)) !== bare(real))) {
    return no(
      real === null
        ? "there is no such file, so it has no old_content"
        : "old_content is not what is in the file; leave it out, or send edits",
    )
  }
  if (deleted) return real === null ? no("there is no such file to delete") : { ok: true, text: null }
  if (edits && edits.length > 0) {
    if (new_content !== undefined) return no("send either new_content or edits, not both")
    return real === null ? no("there is no such file to edit") : replaced(real, edits)
  }
  if (new_content === undefined) return no("it has neither new_content nor edits")
  const text = real?.startsWith(BOM) ? BOM + own(bare(new_content)) : own(new_content)
  return text === real ? no("it changes nothing") : { ok: true, text }
}
