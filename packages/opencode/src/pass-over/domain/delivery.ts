/** How far a result is from its originator where a person stands between them. */
export type Kept = "held" | "dropped"

/** Whether a person sees a result first, or has kept it back for good; by the row of its delivery. */
export function keptAs({ mode, status }: { mode: string; status: string }): Kept | undefined {
  if (status !== "held") return
  return mode === "none" ? "dropped" : "held"
}
