import type { Session } from "@opencode-ai/sdk/v2"

/** Our tools whose calls show how it goes, and whose answers carry results. */
export const OURS: readonly string[] = ["pass_over", "flow"]

/** The pass that a session was made for. */
export function passOf({ metadata }: Pick<Session, "metadata">): string | undefined {
  const mark: unknown = metadata?.pass_over
  const id = typeof mark === "object" && mark !== null && "id" in mark ? mark.id : undefined
  return typeof id === "string" ? id : undefined
}
