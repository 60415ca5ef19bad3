import { reply, type Piece, type Reply, type ReplyOptions } from "./reply"

const only = (...pieces: Piece[]): Reply => ({ pieces })

const json = { "content-type": "application/json" }

const status = (code: number, options: { message?: string; headers?: Record<string, string> } = {}) => {
  const message = options.message ?? `The script answers with status ${code}.`
  const body = JSON.stringify({ error: { message, type: "rehearsal", code: String(code) } })
  return reply({ http: { status: code, body }, headers: { ...json, ...options.headers } })
}

/**
 * What providers do wrong. Those marked "anywhere" are pieces and stand where they happen:
 * alone or first, no byte is sent before them; after text, they come in mid-stream.
 */
export const fault = {
  /**
   * The connection is refused. Whose it is cannot be known before it is made, so the request does reach the model,
   * which sends its client on to a port where nobody listens.
   */
  refuse: () => only({ type: "refuse" }),

  /** Anywhere: the connection is destroyed. First in a reply: no response. */
  reset: () => only({ type: "reset" }),

  /** Anywhere: nothing more is sent and the connection stays open. First in a reply: no byte, ever. */
  stall: () => only({ type: "stall" }),

  /** Anywhere: the body ends in good order, but without finish reason, usage and [DONE]. */
  cut: () => only({ type: "cut" }),

  /** Anywhere: the body ends in the middle of a JSON value. */
  torn: () => only({ type: "raw", text: 'data: {"id":"torn","object":"chat.completion.chunk","choi' }, { type: "cut" }),

  /** Anywhere: an error object in the stream, in place of a chunk. */
  message: (message: string) =>
    only({ type: "raw", text: `data: ${JSON.stringify({ error: { message, type: "server_error" } })}\n\n` }),

  /** Anywhere: so much text. */
  flood: (bytes: number) => only({ type: "flood", bytes }),

  /** A status and an error body, for instance 500 or 503. */
  status,

  /** 429, with Retry-After in seconds if given. */
  rateLimit: (retry_after?: number) =>
    status(429, retry_after === undefined ? {} : { headers: { "retry-after": String(retry_after) } }),

  /** A complete answer with nothing in it. */
  empty: (options: ReplyOptions = {}) => reply(options),

  /** Status 200 and a body of no bytes. */
  blank: () => reply({ http: { status: 200, body: "" }, headers: { "content-type": "text/event-stream" } }),

  /** Status 200 and a web page, as a captive portal would send it. */
  wrongType: (body = "<!doctype html><title>Sign in</title>") =>
    reply({ http: { status: 200, body }, headers: { "content-type": "text/html" } }),

  /** A tool call with arguments that are not JSON. */
  badArguments: (name: string, raw = '{"filePath": "REA') => only({ type: "call", name, input: raw }),

  /** Several tool calls under one id. */
  sameId: (...list: [name: string, input: Record<string, unknown>][]): Reply => ({
    pieces: list.map(([name, input]) => ({ type: "call", name, input, id: "call_same" })),
  }),
}
