import type { ToolContext } from "@opencode-ai/plugin"

/** The context of a call that may be needed for longer than the call lasts. */
export type Borrowed = ToolContext & { borrow(): () => void }

/**
 * Keeps a call's way to the user open until it is given back: of a pass that is not waited for, the call has its answer
 * long before its question is put.
 */
export function borrow(context: ToolContext): () => void {
  if (!("borrow" in context)) return () => {}
  return (context as Borrowed).borrow()
}
