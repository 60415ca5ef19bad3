import { completion, deltaChunk, deltasOf, finishChunk, usageChunk, type Stamp } from "./chunk"
import { CLOSED_URL, type Exchange } from "./http"
import type { Piece, Reply } from "./reply"

/** How an answer ended: as written, by a fault of the script, or because the client went away first. */
export type Ending = "answered" | "cut" | "reset" | "refused" | "abandoned"

const SSE = { "content-type": "text/event-stream", "cache-control": "no-cache" }
const JSON_TYPE = { "content-type": "application/json" }

// Many clients drop what they have received when the end of the connection comes with it. A reset in mid-stream is
// about what was received, so that is given time to land.
const LANDING_MS = 30

export type Play = {
  reply: Reply
  stamp: Stamp
  exchange: Exchange
  stream: boolean
  onFirstByte(): void
}

/** Plays a reply over the wire, and comes back when nothing more will be sent. */
export async function play(input: Play): Promise<Ending> {
  const ending = await perform(input)
  return input.exchange.closed.aborted ? "abandoned" : ending
}

async function perform(input: Play): Promise<Ending> {
  if (input.reply.http) return playHttp(input, input.reply.http)
  if (input.stream) return playStream(input)
  return playWhole(input)
}

async function playStream(input: Play): Promise<Ending> {
  const { reply, stamp, exchange } = input
  const send = (text: string) => {
    if (!exchange.begun()) begin(input, 200, SSE)
    return exchange.write(text)
  }
  const chunk = (value: object) => send(`data: ${JSON.stringify(value)}\n\n`)
  const state = { calls: 0, chunks: 0 }
  for (const piece of reply.pieces) {
    const ending = await wait(piece, input)
    if (ending === "cut") {
      if (!exchange.begun()) begin(input, 200, SSE)
      exchange.end()
    }
    if (ending) return ending
    if (piece.type === "raw") await send(piece.text)
    for (const delta of deltasOf(piece, reply.chunk_size, stamp, state.calls)) {
      if (state.chunks > 0 && reply.gap_ms) await sleep(reply.gap_ms, exchange.closed)
      if (exchange.closed.aborted) return "abandoned"
      await chunk(deltaChunk(stamp, state.chunks === 0 ? { role: "assistant", ...delta } : delta))
      state.chunks++
    }
    if (piece.type === "call") state.calls++
  }
  await chunk(finishChunk(stamp, reply))
  await chunk(usageChunk(stamp, reply))
  await send("data: [DONE]\n\n")
  exchange.end()
  return "answered"
}

async function playWhole(input: Play): Promise<Ending> {
  const ending = await waitAll(input)
  if (ending && ending !== "cut") return ending
  const body = JSON.stringify(completion(input.stamp, input.reply))
  await whole(input, 200, JSON_TYPE, ending === "cut" ? body.slice(0, body.length / 2) : body)
  return ending ?? "answered"
}

async function playHttp(input: Play, http: { status: number; body: string }): Promise<Ending> {
  const ending = await waitAll(input)
  if (ending && ending !== "cut") return ending
  await whole(input, http.status, {}, http.body)
  return ending ?? "answered"
}

async function whole(input: Play, status: number, headers: Record<string, string>, body: string) {
  begin(input, status, headers)
  await input.exchange.write(body)
  input.exchange.end()
}

/** The waits and faults of a reply that goes out in one piece, without what it says. */
async function waitAll(input: Play) {
  for (const piece of input.reply.pieces) {
    const ending = await wait(piece, input)
    if (ending) return ending
  }
  return undefined
}

/** Waits, and breaks off where a fault says so. Comes back with an ending when the answer is over. */
async function wait(piece: Piece, input: Play): Promise<Ending | undefined> {
  const { closed, begun, destroy } = input.exchange
  if (piece.type === "pause") await sleep(piece.ms, closed)
  if (piece.type === "hold") {
    piece.gate.reach()
    await until(closed, (done) => void piece.gate.opened.then(done))
  }
  if (piece.type === "stall") await until(closed, () => {})
  if (closed.aborted) return "abandoned"
  if (piece.type === "cut") return "cut"
  if (piece.type === "refuse") return refuse(input.exchange)
  if (piece.type !== "reset") return undefined
  if (begun()) await sleep(LANDING_MS, closed)
  // Its close is reported later, so it is not taken for the client's.
  destroy()
  return "reset"
}

// 307 because clients follow it by themselves, with the same method and body. The kernel does the refusing.
function refuse(exchange: Exchange): Ending {
  exchange.begin(307, { location: `${CLOSED_URL}/chat/completions` })
  exchange.end()
  return "refused"
}

function begin(input: Play, status: number, headers: Record<string, string>) {
  input.exchange.begin(status, { ...headers, ...input.reply.headers })
  input.onFirstByte()
}

/** Settles when `start` calls back or the signal aborts, whichever comes first, and leaves nothing behind. */
const until = (signal: AbortSignal, start: (done: () => void) => (() => void) | void) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) return resolve()
    const done = () => {
      signal.removeEventListener("abort", done)
      cleanup?.()
      resolve()
    }
    signal.addEventListener("abort", done)
    const cleanup = start(done)
  })

const sleep = (ms: number, signal: AbortSignal) =>
  until(signal, (done) => {
    const timer = setTimeout(done, ms)
    return () => clearTimeout(timer)
  })
