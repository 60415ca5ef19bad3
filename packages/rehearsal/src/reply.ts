import type { Gate } from "./gate"
import type { ModelRequest } from "./request"

/** What a reply is made of, in the order it goes over the wire. Faults and waits are pieces like any other. */
export type Piece =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  /** A string as input is sent as it is: that is how broken arguments are made. */
  | { type: "call"; name: string; input: Record<string, unknown> | string; id?: string }
  | { type: "pause"; ms: number }
  | { type: "hold"; gate: Gate }
  /** Bytes put into the stream without any framing. */
  | { type: "raw"; text: string }
  /** Generated text of that many bytes, never held in memory as a whole. */
  | { type: "flood"; bytes: number }
  /** Nothing more is sent, and the connection stays open. */
  | { type: "stall" }
  /** The connection is destroyed. */
  | { type: "reset" }
  /** The connection is refused; nothing but waits may come before it. */
  | { type: "refuse" }
  /** The body ends here, in good order, without finish reason, usage or [DONE]. */
  | { type: "cut" }

/** Tokens as opencode will show them. The four do not overlap; on the wire they are summed up. */
export type Usage = { input: number; output: number; reasoning: number; cached: number }

export type ReplyOptions = {
  usage?: Partial<Usage>
  /** By default "tool_calls" when there is a call, and "stop" otherwise. */
  finish?: string
  /** Characters in one chunk of text or arguments. Without it, every piece is one chunk. */
  chunk_size?: number
  /** Pause between two chunks. */
  gap_ms?: number
  /** Added to the response, or put in the place of what would be there. */
  headers?: Record<string, string>
  /** An answer of this status and body instead of a stream. */
  http?: { status: number; body: string }
}

export type Reply = ReplyOptions & { pieces: Piece[] }

/** An answer that depends on what the model was sent. */
export type Respond = (request: ModelRequest) => Reply | Promise<Reply>

export type Repeat = { repeat: Reply | Respond; times?: number }

export type Step = Reply | Respond | Repeat

/** Joins pieces and options into one reply: `reply(think("hm"), call("read", {…}), { gap_ms: 5 })`. */
export const reply = (...parts: Partial<Reply>[]): Reply =>
  parts.reduce<Reply>((all, part) => ({ ...all, ...part, pieces: [...all.pieces, ...(part.pieces ?? [])] }), {
    pieces: [],
  })

const piece = (value: Piece, options: ReplyOptions = {}): Reply => ({ ...options, pieces: [value] })

export const say = (text: string, options?: ReplyOptions) => piece({ type: "text", text }, options)

export const think = (text: string, options?: ReplyOptions) => piece({ type: "reasoning", text }, options)

/** One tool call. */
export const call = (name: string, input: Record<string, unknown> = {}, options?: ReplyOptions) =>
  piece({ type: "call", name, input }, options)

/** Several tool calls in one turn: `calls(["read", {…}], ["grep", {…}])`. */
export const calls = (...list: [name: string, input: Record<string, unknown>][]): Reply => ({
  pieces: list.map(([name, input]) => ({ type: "call", name, input })),
})

/** Waits. At the start of a reply, before the first byte. */
export const pause = (ms: number) => piece({ type: "pause", ms })

/** Waits until the test opens the gate. At the start of a reply, before the first byte. */
export const hold = (at: Gate) => piece({ type: "hold", gate: at })

/** Plays a step that many times; without a number for ever, and then it has to be the last of its script. */
export const repeat = (step: Reply | Respond, times?: number): Repeat =>
  times === undefined ? { repeat: step } : { repeat: step, times }
