import type { Event, Message, PermissionRuleset, Session, Todo } from "@opencode-ai/sdk/v2"
import type { ToolPart } from "./events"
import type { Stored } from "./message-v2"
import type { Refused } from "../pass-over/service/port-host"
import { createViews, type Views } from "./views"
import { OURS, passOf } from "./ours"
import { createTranscript, type Transcript } from "./transcript"

/** `over` when nobody waits for it any more. */
export type Birth = { session: Promise<Session>; over(): void }

/** What passed by on the event stream and would cost a request to ask for again. */
export type Observed = {
  hear(event: Event): void
  session(session: Pick<Session, "id" | "parentID" | "permission">): void
  /** The child session of a pass, as soon as it is there: the host tells of it before it answers who has asked for it. */
  birth(pass_id: string): Birth
  /** Calls once the model of a session begins to answer, or once nothing is expected of it any more. */
  onAnswer(session_id: string, come: () => void): void
  answered(session_id: string): void
  /** What a session adds to its agent's rules; nothing where it was never seen. */
  rules(session_id: string): PermissionRuleset | undefined
  /** The session above, null for one at the top, undefined for one that was never seen. */
  parent(session_id: string): string | null | undefined
  /** Sessions that were told to stop just now, by whoever heard first that it was time. */
  readonly stops: Set<string>
  /** The running call of one of our tools. */
  tool(session_id: string, call_id: string): ToolPart | undefined
  /** What is being written into running calls. */
  readonly views: Views
  /** The permission questions of a session that nobody has answered yet. */
  questions(session_id: string, permission?: string): string[]
  /** The question that was said no to a moment ago: every other one of that session went with it. */
  refused(session_id: string): Refused | undefined
  /** A session's todos, where it was seen from its beginning. */
  todos(session_id: string): Todo[] | undefined
  /** Keeps what a session says from now on, behind what it has said before; to be called before its next prompt. */
  watch(session_id: string, before?: readonly Stored[]): void
  /** Whether something is told again that a session had said before it was watched. */
  past(event: Event): boolean
  unwatch(session_id: string): void
  transcript(session_id: string): Stored[] | undefined
  /** A message of a watched session, without its parts. */
  author(session_id: string, message_id: string): Message | undefined
  /** The message that a watched session wrote to last. */
  lastMessage(session_id: string): string | undefined
}

// Sessions of a long day. What falls out is asked for again.
const MOST_SESSIONS = 10_000

type Known = { parent: string | null; rules: PermissionRuleset }
type Seen = { sessions: Map<string, Known>; todos: Map<string, Todo[]> }

function sessions({ sessions: known, todos }: Seen, event: Event) {
  if (event.type === "session.created") todos.set(event.properties.info.id, [])
  if (event.type === "session.created" || event.type === "session.updated") {
    remember(known, event.properties.info)
  }
  if (event.type === "session.deleted") {
    known.delete(event.properties.info.id)
    todos.delete(event.properties.info.id)
  }
  if (event.type === "todo.updated") todos.set(event.properties.sessionID, event.properties.todos)
  const [oldest] = todos.keys()
  if (todos.size > MOST_SESSIONS && oldest !== undefined) todos.delete(oldest)
}

function remember(
  known: Map<string, Known>,
  { id, parentID, permission }: Pick<Session, "id" | "parentID" | "permission">,
) {
  known.set(id, { parent: parentID ?? null, rules: permission ?? [] })
  const [oldest] = known.keys()
  if (known.size > MOST_SESSIONS && oldest !== undefined) known.delete(oldest)
}

type Watched = { transcript: Transcript; past: ReadonlySet<string> }

function watching(before: readonly Stored[]): Watched {
  const transcript = createTranscript()
  const past = new Set<string>()
  for (const { info, parts } of before) {
    transcript.message(info)
    for (const part of parts) {
      transcript.part(part)
      past.add(part.id)
    }
  }
  return { transcript, past }
}

function transcribe(watched: ReadonlyMap<string, Watched>, event: Event) {
  const of = (session_id: string) => watched.get(session_id)?.transcript
  if (event.type === "message.updated") of(event.properties.info.sessionID)?.message(event.properties.info)
  if (event.type === "message.part.updated") of(event.properties.part.sessionID)?.part(event.properties.part)
  if (event.type === "message.part.delta") of(event.properties.sessionID)?.delta(event.properties)
  if (event.type === "message.part.removed") of(event.properties.sessionID)?.removed(event.properties)
  if (event.type === "message.removed") {
    of(event.properties.sessionID)?.removed({ messageID: event.properties.messageID })
  }
}

type Question = Refused & { session_id: string }

// The host tells the question that was answered first, and those that it takes along in the same moment.
const TOGETHER_MS = 500

function createQuestions() {
  const open = new Map<string, Question>()
  const refused = new Map<string, { question: Question; at: number }>()
  const justNow = (session_id: string) => {
    const last = refused.get(session_id)
    return last && performance.now() - last.at < TOGETHER_MS ? last.question : undefined
  }
  return {
    hear(event: Event) {
      if (event.type === "permission.asked") {
        const { id, sessionID, permission, patterns } = event.properties
        open.set(id, { session_id: sessionID, permission, patterns })
        // Whatever went before, what is asked from now on is answered for itself.
        refused.delete(sessionID)
      }
      if (event.type !== "permission.replied") return
      const { requestID, sessionID, reply } = event.properties
      const question = open.get(requestID)
      open.delete(requestID)
      if (reply !== "reject" || question === undefined || justNow(sessionID) !== undefined) return
      if (refused.size >= MOST_SESSIONS) refused.clear()
      refused.set(sessionID, { question, at: performance.now() })
    },
    of: (session_id: string, permission?: string) =>
      [...open]
        .filter(([, of]) => of.session_id === session_id && (permission === undefined || of.permission === permission))
        .map(([id]) => id),
    refused: justNow,
  }
}

function call(tools: Map<string, ToolPart>, event: Event) {
  if (event.type !== "message.part.updated") return
  const { part } = event.properties
  if (part.type !== "tool" || !OURS.includes(part.tool)) return
  const key = `${part.sessionID} ${part.callID}`
  const over = part.state.status === "completed" || part.state.status === "error"
  if (over) tools.delete(key)
  if (!over) tools.set(key, part)
}

function createBirths() {
  const awaited = new Map<string, (session: Session) => void>()
  return {
    hear(event: Event) {
      if (awaited.size === 0 || event.type !== "session.created") return
      const pass_id = passOf(event.properties.info)
      if (pass_id !== undefined) awaited.get(pass_id)?.(event.properties.info)
    },
    of(pass_id: string): Birth {
      const { promise: session, resolve } = Promise.withResolvers<Session>()
      awaited.set(pass_id, resolve)
      return { session, over: () => void awaited.delete(pass_id) }
    },
  }
}

function createAnswers() {
  const awaited = new Map<string, () => void>()
  return {
    on: (session_id: string, come: () => void) => void awaited.set(session_id, come),
    come(session_id: string) {
      const come = awaited.get(session_id)
      awaited.delete(session_id)
      come?.()
    },
  }
}

export function createObserved(): Observed {
  const seen: Seen = { sessions: new Map(), todos: new Map() }
  const tools = new Map<string, ToolPart>()
  const questions = createQuestions()
  const births = createBirths()
  const answers = createAnswers()
  const watched = new Map<string, Watched>()
  const stops = new Set<string>()

  return {
    hear(event) {
      sessions(seen, event)
      transcribe(watched, event)
      questions.hear(event)
      call(tools, event)
      births.hear(event)
      if (event.type === "message.part.updated" && event.properties.part.type === "step-start") {
        answers.come(event.properties.part.sessionID)
      }
    },
    birth: births.of,
    onAnswer: answers.on,
    answered: answers.come,
    session: (session) => remember(seen.sessions, session),
    parent: (session_id) => seen.sessions.get(session_id)?.parent,
    rules: (session_id) => seen.sessions.get(session_id)?.rules,
    tool: (session_id, call_id) => tools.get(`${session_id} ${call_id}`),
    stops,
    views: createViews(),
    questions: questions.of,
    refused: questions.refused,
    todos: (session_id) => seen.todos.get(session_id),
    watch(session_id, before = []) {
      // A stop of an earlier pass in this session is none of this one's.
      stops.delete(session_id)
      watched.set(session_id, watching(before))
    },
    past: (event) =>
      event.type === "message.part.updated" &&
      watched.get(event.properties.part.sessionID)?.past.has(event.properties.part.id) === true,
    unwatch: (session_id) => void watched.delete(session_id),
    transcript: (session_id) => watched.get(session_id)?.transcript.messages(),
    author: (session_id, message_id) => watched.get(session_id)?.transcript.author(message_id),
    lastMessage: (session_id) => watched.get(session_id)?.transcript.messages()?.at(-1)?.info.id,
  }
}
