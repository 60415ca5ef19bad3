import { z } from "zod"

const Text = z.string().trim().min(1).max(4_096)

/** Something that a child points to for what it claims. */
export const Evidence = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("file"),
    path: Text,
    line: z.int().positive().optional(),
    end_line: z.int().positive().optional(),
    /** The beginning of the SHA-256 of the file as it was read. */
    hash: z
      .string()
      .regex(/^[0-9a-f]{7,64}$/)
      .optional(),
  }),
  z.strictObject({ type: z.literal("tool"), call_id: Text.optional(), tool: Text.optional() }),
  z.strictObject({ type: z.literal("command"), command: z.string().min(1).max(20_000), exit_code: z.int().default(0) }),
  z.strictObject({ type: z.literal("artifact"), ref: Text }),
  z.strictObject({ type: z.literal("url"), url: Text }),
])
export type Evidence = z.infer<typeof Evidence>

/** Computed from what the child was seen doing, never claimed. */
export const VerdictStatus = z.enum(["VERIFIED", "UNVERIFIED", "BLOCKED"])
export type VerdictStatus = z.infer<typeof VerdictStatus>

export const OutputVerdict = z.strictObject({
  status: VerdictStatus,
  /** How many pointers were checked, those of findings included. */
  checked: z.int().nonnegative(),
  unresolved: z.array(z.strictObject({ claim: z.string(), why: z.string() })),
})
export type OutputVerdict = z.infer<typeof OutputVerdict>
