import * as fc from "fast-check"

export type Tree = Map<string, { content: string; executable: boolean }>

/** What becomes of one file, and which of its hunks are wanted: every bit of the number is one hunk. */
export type Fate = {
  kind: "edit" | "new" | "delete" | "rename" | "mode"
  content: string
  executable: boolean
  accepted: boolean
  hunks: number
}

export type Case = { base: string; fate: Fate }

// Few different lines, so that the same ones come again and again: that is where differences get ambiguous.
const Line = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("", "}", "  return x", "foo()", "bar()") },
  { weight: 2, arbitrary: fc.nat(60).map((n) => `line ${n}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("-- a", "++ b", "@@ -1 +1 @@", "\\ No newline at end of file", "ä ß 漢", "\tx\r"),
  },
)

const ending = fc.constantFrom("\n", "\n", "\n", "\r\n")

export const Text = fc
  .tuple(fc.array(Line, { maxLength: 60, size: "max" }), ending, fc.boolean())
  .map(([lines, end, closed]) => lines.join(end) + (closed && lines.length > 0 ? end : ""))

type Change = { at: number; drop: number; insert: string[] }

const Changes = fc.array(fc.record({ at: fc.nat(60), drop: fc.nat(4), insert: fc.array(Line, { maxLength: 3 }) }), {
  maxLength: 5,
  size: "max",
})

/** A text and what somebody made of it. */
export const edited = (text: string, changes: readonly Change[]): string => {
  const end = text.includes("\r\n") ? "\r\n" : "\n"
  const lines = text.split(end)
  for (const { at, drop, insert } of changes) lines.splice(at % (lines.length + 1), drop, ...insert)
  return lines.join(end)
}

export const Cases = fc
  .array(
    fc.record({
      base: Text,
      changes: Changes,
      rewrite: fc.option(Text, { freq: 8 }),
      kind: fc.constantFrom<Fate["kind"]>("edit", "edit", "edit", "edit", "edit", "new", "delete", "rename", "mode"),
      executable: fc.boolean(),
      accepted: fc.constantFrom(true, true, true, false),
      hunks: fc.nat(0xffff),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((all): Case[] =>
    all.map(({ base, changes, rewrite, ...fate }) => ({
      base,
      fate: { ...fate, content: rewrite ?? edited(base, changes) },
    })),
  )

export const Three = fc
  .record({ base: Text, ours: Changes, theirs: Changes })
  .map(({ base, ours, theirs }) => ({ base, ours: edited(base, ours), theirs: edited(base, theirs) }))
