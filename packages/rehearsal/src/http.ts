import { once } from "node:events"
import { createServer, type AddressInfo, type Socket } from "node:net"
import { STATUS_CODES } from "node:http"
import { needed, parseHead, readBody, type Head } from "./http-parse"

/**
 * A request and the connection it came on. HTTP/1.1 by hand, because a server that has to break off in mid-stream
 * and has to notice at once when its client leaves needs the socket: under Bun, `Bun.serve` cannot do the first and
 * `node:http` not the second. Connections are kept alive: Bun's fetch goes on using one after an error status even if
 * it was told "connection: close", and its next request would then fail for no reason of the scenario's.
 */
export type Exchange = Head & {
  readonly body: string
  /** Aborted when the connection is closed, by whichever side. */
  readonly closed: AbortSignal
  /** Whether the head of the response is out. */
  begun(): boolean
  begin(status: number, headers: Record<string, string>): void
  /** Resolves when the system has taken the bytes, or when there is nobody left to send them to. */
  write(text: string): Promise<void>
  /** Ends the response in good order. */
  end(): void
  /** Closes the connection as it is. */
  destroy(): void
}

export type Listener = { readonly port: number; refuse(): void; accept(): Promise<void>; stop(): void }

type Handler = (exchange: Exchange) => Promise<void>

/** The sockets of a listener, and which of them are between two requests. */
type Pool = { all: Set<Socket>; idle: Set<Socket>; refusing: boolean }

/** Where nobody listens: a sandbox with this as its model's URL has every connection refused. */
export const CLOSED_URL = "http://127.0.0.1:1/v1"

export async function listen(handler: Handler): Promise<Listener> {
  const pool: Pool = { all: new Set(), idle: new Set(), refusing: false }
  const start = async (port: number) => {
    const server = createServer((socket) => accept(socket, pool, handler))
    server.listen(port, "127.0.0.1")
    await once(server, "listening")
    return server
  }
  const now = { server: await start(0) }
  const { port } = now.server.address() as AddressInfo
  const close = (sockets: Set<Socket>) => {
    now.server.close()
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    refuse: () => {
      pool.refusing = true
      close(pool.idle)
    },
    accept: async () => {
      now.server = await start(port)
      pool.refusing = false
    },
    stop: () => close(pool.all),
  }
}

function accept(socket: Socket, pool: Pool, handler: Handler) {
  pool.all.add(socket)
  socket.on("close", () => (pool.all.delete(socket), pool.idle.delete(socket)))
  socket.setNoDelay(true)
  // Clients reset connections as they please; the close that follows says all there is to know.
  socket.on("error", () => {})
  // A client that has stopped sending has left. Bun reports no close while there are bytes it cannot deliver.
  socket.on("end", () => socket.destroy())
  receive(socket, pool, handler)
}

/** Reads one request; the next is read when this one has been answered in good order. */
function receive(socket: Socket, pool: Pool, handler: Handler) {
  const came: { parts: Buffer[]; size: number; head?: Head } = { parts: [], size: 0 }
  pool.idle.add(socket)
  const onData = (part: Buffer) => {
    pool.idle.delete(socket)
    came.parts.push(part)
    came.size += part.length
    // Long bodies come in many parts: they are joined when all are there, and not again with each.
    if (came.head && came.size < needed(came.head)) return
    const bytes = Buffer.concat(came.parts)
    const head = came.head ?? parseHead(bytes)
    if (!head) return
    if (!came.head && head.headers["expect"]) socket.write("HTTP/1.1 100 Continue\r\n\r\n")
    came.head = head
    const body = readBody(head, bytes)
    if (body === undefined) return
    // Still flowing, though nobody listens: a paused socket would not tell that its client has left.
    socket.off("data", onData).resume()
    // A connection that outlived a closed port would bring the next request past it.
    const next = () => (pool.refusing ? void socket.end() : receive(socket, pool, handler))
    const answered = handler(exchange(socket, head, body, next))
    // Should the handler itself break, its client must not wait for ever; the error stays unhandled, to be seen.
    void answered.catch((error: unknown) => {
      socket.destroy()
      throw error
    })
  }
  socket.on("data", onData)
}

function exchange(socket: Socket, head: Head, body: string, next: () => void): Exchange {
  const closed = new AbortController()
  const onClose = () => closed.abort()
  socket.once("close", onClose)
  const state = { begun: false }
  const send = (text: string) =>
    new Promise<void>((resolve) => {
      if (closed.signal.aborted || socket.destroyed) return resolve()
      const done = () => (closed.signal.removeEventListener("abort", done), resolve())
      closed.signal.addEventListener("abort", done)
      socket.write(text, done)
    })
  return {
    ...head,
    body,
    closed: closed.signal,
    begun: () => state.begun,
    begin: (status, headers) => {
      state.begun = true
      const lines = Object.entries({ ...headers, "transfer-encoding": "chunked" }).map(
        (pair) => `${pair.join(": ")}\r\n`,
      )
      void send(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`)
    },
    write: (text) => (text ? send(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`) : Promise.resolve()),
    end: () => {
      socket.off("close", onClose)
      void send("0\r\n\r\n")
      next()
    },
    destroy: () => void socket.destroy(),
  }
}
