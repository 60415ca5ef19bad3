import { z } from "zod"

export const ManifestItem = z.strictObject({
  kind: z.enum(["message", "digest", "file", "tool_result", "todo", "error"]),
  /** A message id, a path, a call id. */
  ref: z.string(),
  taken: z.enum(["whole", "part", "none"]),
  /** Why it went along as it did, in words for a person. */
  why: z.string(),
  bytes: z.int().nonnegative(),
  tokens: z.int().nonnegative(),
  sha256: z.string().optional(),
  /** The setting that keeps it back. */
  withheld_by: z.enum(["pass_context", "pass_files"]).optional(),
})
export type ManifestItem = z.infer<typeof ManifestItem>

/** What went along with a pass, what was left out, and why. */
export const Manifest = z.strictObject({
  items: z.array(ManifestItem),
  /** Totals of what went along. */
  bytes: z.int().nonnegative(),
  tokens: z.int().nonnegative(),
  max_bytes: z.int().positive(),
  max_tokens: z.int().positive(),
  /** Whether tokens were counted, or bounded by their bytes because all of it fits anyway. */
  exact: z.boolean(),
})
export type Manifest = z.infer<typeof Manifest>

type Setting = NonNullable<ManifestItem["withheld_by"]>

/** What a setting keeps back: of files each one, of a conversation the whole. */
export const withheld = (setting: Setting): ManifestItem => ({
  kind: setting === "pass_files" ? "file" : "message",
  ref: "the conversation with its todos and errors",
  taken: "none",
  why: `withheld: ${setting} is off`,
  bytes: 0,
  tokens: 0,
  withheld_by: setting,
})

/** "the conversation (pass_context), the contents of 2 files (pass_files)"; nothing where no setting keeps anything back. */
function keptBack({ items }: Manifest): string {
  const by = (setting: Setting) => items.filter(({ withheld_by }) => withheld_by === setting).length
  const files = by("pass_files")
  return [
    ...(by("pass_context") > 0 ? ["the conversation (pass_context)"] : []),
    ...(files > 0
      ? [`the content${files === 1 ? "" : "s"} of ${files} file${files === 1 ? "" : "s"} (pass_files)`]
      : []),
  ].join(", ")
}

export const withholds = (list: Manifest) => list.items.some(({ withheld_by }) => withheld_by !== undefined)

const sum = (items: readonly ManifestItem[], key: "bytes" | "tokens") =>
  items.reduce((total, item) => total + (item.taken === "none" ? 0 : item[key]), 0)

export const manifest = (items: ManifestItem[], max: { bytes: number; tokens: number }, exact: boolean): Manifest => ({
  items,
  bytes: sum(items, "bytes"),
  tokens: sum(items, "tokens"),
  max_bytes: max.bytes,
  max_tokens: max.tokens,
  exact,
})

const counted = new Intl.NumberFormat("en")

/** "4 messages, 2 files (3 left out), 1,204 tokens; withheld: the contents of 2 files (pass_files)", for a brief and for a person. */
export function describeManifest(list: Manifest): string {
  const count = (kind: ManifestItem["kind"], name: string) => {
    const all = list.items.filter((item) => item.kind === kind && item.withheld_by === undefined)
    const taken = all.filter((item) => item.taken !== "none").length
    if (all.length === 0) return []
    const left = all.length - taken
    return [`${taken} ${name}${taken === 1 ? "" : "s"}${left > 0 ? ` (${left} left out)` : ""}`]
  }
  const pieces = [
    ...count("message", "message"),
    ...count("file", "file"),
    ...count("tool_result", "tool result"),
    ...count("todo", "todo"),
    ...count("error", "error"),
  ]
  const told =
    pieces.length === 0
      ? "nothing"
      : `${pieces.join(", ")}, ${list.exact ? "" : "at most "}${counted.format(list.tokens)} tokens`
  return withholds(list) ? `${told}; withheld: ${keptBack(list)}` : told
}
