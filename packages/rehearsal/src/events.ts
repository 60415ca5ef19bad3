import type { Event } from "@opencode-ai/sdk/v2/client"

export type EventsInput = {
  url: string
  directory: string
  headers: Record<string, string>
  /** "global" hears every directory of the server, "directory" only the project's. */
  scope?: "global" | "directory"
}

/** Which directory it happened in; undefined for the events of the server itself. */
export type Heard = Event & { directory: string | undefined }

export type EventLog = Disposable & {
  /** Everything heard so far. */
  readonly list: Heard[]
  /** The first event of that type that fits, among those heard or still to come. */
  until<T extends Event["type"]>(
    type: T,
    fits?: (event: Extract<Heard, { type: T }>) => boolean,
    timeout_ms?: number,
  ): Promise<Extract<Heard, { type: T }>>
  close(): void
}

const WAIT_MS = 20_000

/** Comes back when the server has confirmed the stream, so that nothing which happens later is missed. */
export async function collectEvents(input: EventsInput): Promise<EventLog> {
  const path = input.scope === "directory" ? `/event?directory=${encodeURIComponent(input.directory)}` : "/global/event"
  const life = new AbortController()
  const response = await fetch(input.url + path, { headers: input.headers, signal: life.signal })
  if (!response.ok || !response.body) throw new Error(`The event stream answered ${response.status}`)
  const list: Heard[] = []
  const watchers = new Set<(event: Heard) => void>()
  const connected = Promise.withResolvers<void>()

  const read = async (body: ReadableStream<Uint8Array>) => {
    for await (const event of eventsOf(body)) {
      if (event.type === "server.connected") connected.resolve()
      list.push(event)
      for (const watch of watchers) watch(event)
    }
  }
  // A stream ends with its server; what it has not said by then, the waiters' own time limits report.
  read(response.body).then(connected.resolve, connected.resolve)
  await connected.promise

  const until: EventLog["until"] = (type, fits = () => true, timeout_ms = WAIT_MS) => {
    type Wanted = Extract<Heard, { type: typeof type }>
    const wanted = (event: Heard): event is Wanted => event.type === type && fits(event as Wanted)
    const heard = list.find(wanted)
    if (heard) return Promise.resolve(heard)
    const { promise, resolve, reject } = Promise.withResolvers<Wanted>()
    const watch = (event: Heard) => wanted(event) && resolve(event)
    watchers.add(watch)
    const late = () => reject(new Error(`No ${type} within ${timeout_ms} ms. Heard: ${summary(list)}`))
    const timer = setTimeout(late, timeout_ms)
    return promise.finally(() => (clearTimeout(timer), watchers.delete(watch)))
  }

  const close = () => life.abort()
  return { list, until, close, [Symbol.dispose]: close }
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Heard> {
  const decoder = new TextDecoder()
  const rest = { text: "" }
  for await (const bytes of body) {
    const lines = (rest.text + decoder.decode(bytes, { stream: true })).split("\n")
    rest.text = lines.pop() ?? ""
    for (const line of lines) {
      if (!line.startsWith("data:")) continue
      const value: { directory?: string; payload?: Event } & Event = JSON.parse(line.slice(5))
      yield { ...(value.payload ?? value), directory: value.directory }
    }
  }
}

const summary = (list: Heard[]) => [...new Set(list.map((event) => event.type))].join(", ") || "nothing"
