/** The plainest server of its kind: what is posted goes to everybody who listens. The measure for ours. */
import { Hono } from "hono"
import { streamSSE, type SSEStreamingApi } from "hono/streaming"

const listening = new Set<SSEStreamingApi>()

const app = new Hono()
  .post("/", async (c) => {
    const data = await c.req.text()
    await Promise.all([...listening].map((stream) => stream.writeSSE({ data })))
    return c.text("sent")
  })
  .get("/events", (c) =>
    streamSSE(c, async (stream) => {
      listening.add(stream)
      const over = Promise.withResolvers<void>()
      stream.onAbort(() => over.resolve())
      await stream.writeSSE({ event: "ready", data: "{}" })
      await over.promise
      listening.delete(stream)
    }),
  )

const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: app.fetch, idleTimeout: 0 })
console.log(`http://127.0.0.1:${server.port}`)
