import { appendFileSync } from "node:fs"

type Told = { type: string; properties: { info?: { id: string; parentID?: string; model?: unknown } } }

/** Keeps what opencode says of its sessions when they are made and when they are written again, a line each. */
export default {
  id: "sessions-told",
  server: async (_: unknown, { to }: { to: string }) => ({
    event: async ({ event: { type, properties } }: { event: Told }) => {
      if (type !== "session.created" && type !== "session.updated") return
      const { id, parentID, model } = properties.info ?? {}
      appendFileSync(to, `${JSON.stringify({ type, id, parentID, model })}\n`)
    },
  }),
}
