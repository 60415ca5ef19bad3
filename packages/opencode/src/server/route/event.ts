import { Hono, type Context } from "hono"
import type { z } from "zod"
import type { StoredEvent } from "../../pass-over/service/port"
import { answersText, reads } from "../describe"
import type { Env, ServerDeps } from "../deps"
import { HttpError } from "../failure"
import type { FeedItem } from "../feed"
import * as Schema from "../schema"

type Query = z.infer<typeof Schema.EventQuery>

const encoder = new TextEncoder()

const frame = (event: string, data: unknown, id?: number) =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

const concerns = (query: Query, event: StoredEvent) =>
  (query.pass_over_id === undefined || event.pass_over_id === query.pass_over_id) &&
  (query.session_id === undefined || event.session_id === query.session_id) &&
  (query.directory === undefined || event.directory === query.directory)

// The same event goes to all readers that look at everything: it is written out once.
const written = new WeakMap<StoredEvent, string>()

function text(event: StoredEvent): string {
  const known = written.get(event)
  if (known !== undefined) return known
  const fresh = frame(event.type, event, event.seq)
  written.set(event, fresh)
  return fresh
}

function lines(item: FeedItem, query: Query): string {
  if (item.type === "ready") return `retry: 1000\n${frame("ready", { seq: item.seq }, item.seq)}`
  if (item.type === "beat") return ": still here\n\n"
  if (item.type === "live") {
    const { pass_over_id } = query
    const shown = item.passes.filter((live) => pass_over_id === undefined || live.pass_over_id === pass_over_id)
    return frame("live", shown)
  }
  const mine = item.events.filter((event) => concerns(query, event)).map(text)
  const last = item.events.at(-1)
  // Also for a reader of one session the place in the whole list moves on, or a reconnect would read it all again.
  const passed = mine.length === 0 && last ? `id: ${last.seq}\nevent: passed\ndata: {}\n\n` : ""
  return mine.join("") || passed
}

function place(c: Context, query: Query): number | undefined {
  const header = c.req.header("last-event-id")
  if (header === undefined || header === "") return query.after
  if (!/^\d{1,15}$/.test(header)) throw new HttpError("BAD_REQUEST", "Last-Event-ID is the number of an event.")
  return Number(header)
}

/** A stream that asks for the next item only when the last was taken: whoever reads slowly waits for nobody but himself. */
function stream(items: AsyncGenerator<FeedItem>, query: Query, over: AbortController): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const next = await items.next()
        if (next.done) return controller.close()
        controller.enqueue(encoder.encode(lines(next.value, query)))
      },
      async cancel() {
        over.abort()
        await items.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

export function eventRoutes(deps: ServerDeps) {
  return new Hono<Env>().get(
    "/events",
    answersText(
      {
        id: "readEvents",
        tag: "events",
        summary: "Follow what happens as it happens",
        description:
          "Server-sent events of all opencode processes of this user. Each carries the number of the event as its id: send the last one as `Last-Event-ID` to go on without loss or repetition. `live` events have no id: they show how far running passes are, and only the latest counts.",
      },
      "text/event-stream",
      "`ready`, then one event for each change, `live` for progress.",
    ),
    reads("query", Schema.EventQuery),
    (c) => {
      const query = c.req.valid("query")
      const over = new AbortController()
      c.req.raw.signal.addEventListener("abort", () => over.abort(), { once: true })
      return c.body(stream(deps.feed.read(place(c, query), over.signal), query, over), 200, {
        "content-type": "text/event-stream",
        "x-accel-buffering": "no",
      })
    },
  )
}
