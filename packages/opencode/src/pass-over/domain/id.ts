import { z } from "zod"

/** A pass is a UUID, version 7 when it is ours, so that ids sort by the time they were made. */
export const PassID = z.uuid().brand<"PassID">()
export type PassID = z.infer<typeof PassID>

const prefixed = <P extends string>(prefix: P) =>
  z.custom<`${P}_${string}`>((value) => typeof value === "string" && new RegExp(`^${prefix}_[0-9a-f]{32}$`).test(value))

export const ReturnID = prefixed("ret")
export type ReturnID = z.infer<typeof ReturnID>

export const ArtifactID = prefixed("art")
export type ArtifactID = z.infer<typeof ArtifactID>

export const OwnerID = prefixed("own")
export type OwnerID = z.infer<typeof OwnerID>

/** Who owns what nobody has in hand, as a run that was started where no opencode is: whoever comes first takes it. */
export const NOBODY = `own_${"0".repeat(32)}` as const

/** The kinds of ids that carry their kind as a prefix. */
export type Prefix = "ret" | "art" | "own" | "evt" | "gat" | "cmd" | "att" | "run" | "dlv" | "chg" | "apl" | "sta"

export const AgentID = z.string().min(1).max(200)
export type AgentID = z.infer<typeof AgentID>

export const SessionID = z.string().min(1).max(200)
export type SessionID = z.infer<typeof SessionID>
