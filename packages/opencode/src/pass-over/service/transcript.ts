import type { Turn } from "../domain/circle"
import type { ContextMessage } from "../domain/context"
import { since } from "../domain/extract"
import type { PassID } from "../domain/id"
import { event, type Pass, type PassEvent } from "../domain/pass"
import { PASS_CHARACTERS, saidData, transcriptOf, turnData, type Said } from "../domain/transcript"
import type { Clock, Store, StoredEvent } from "./port"

// Words that are over wait this long for what is written anyway, and then no longer.
const GATHER_MS = 200
const PAGE = 1_000

const RETURN = "pass_over_return"

/** The events of all passes of a process that nobody waits for, a handful at a time. */
export type Notes = {
  put(event: PassEvent): void
  flush(): Promise<void>
}

export function createNotes({ store, clock }: { store: Pick<Store, "announce">; clock: Clock }): Notes {
  let pending: PassEvent[] = []
  let unarm: (() => void) | undefined

  async function flush() {
    unarm?.()
    unarm = undefined
    const events = pending
    pending = []
    // What a child does is seen while it runs. Losing a line of it in a bad moment harms nobody.
    if (events.length > 0) await store.announce(...events).catch(() => {})
  }

  return {
    put(event) {
      pending.push(event)
      unarm ??= clock.after(GATHER_MS, () => void flush())
    },
    flush,
  }
}

/** Writes down what a running child is told, says and does, as it is heard. */
export type Scribe = {
  said(said: Said): void
  turn(turn: Turn): void
  /** What was not heard, or not to its end, out of what can be read of the session. */
  rest(messages: readonly ContextMessage[]): void
}

type ScribeDeps = { notes: Notes; clock: Clock }

/** `known` are the parts that are written down already: the host tells of the same one more than once. */
export function createScribe({ notes, clock }: ScribeDeps, pass: () => Pass, known = new Set<string>()): Scribe {
  let room = PASS_CHARACTERS

  function fresh(id: string | undefined): boolean {
    if (id === undefined) return true
    if (known.has(id)) return false
    known.add(id)
    return true
  }

  function said(given: Said) {
    if (given.text.trim() === "" || !fresh(given.id)) return
    const data = saidData(given, room)
    room -= data.text.length
    notes.put(event(pass(), "pass.said", clock.now(), data))
  }

  function turn(given: Turn) {
    if (given.tool === RETURN || !fresh(given.id)) return
    notes.put(event(pass(), "pass.artifact", clock.now(), turnData(given)))
    void notes.flush()
  }

  return {
    said,
    turn,
    rest(messages) {
      const own = pass().continues_pass_id === null ? messages : since(messages, pass().id)
      for (const line of transcriptOf(own)) {
        if ("said" in line) said(line.said)
        if ("turn" in line) turn(line.turn)
      }
    },
  }
}

/** All that is written down of a pass, in the order in which that was done. */
export async function readTranscript(store: Pick<Store, "transcript">, id: PassID): Promise<StoredEvent[]> {
  const all: StoredEvent[] = []
  for (;;) {
    const page = await store.transcript(id, { after: all.at(-1)?.seq ?? 0, limit: PAGE })
    all.push(...page)
    if (page.length < PAGE) return all
  }
}

/** Adds to a transcript what nobody was left to write down, out of the session itself. */
export async function completeTranscript(
  { store, ...deps }: ScribeDeps & { store: Pick<Store, "transcript"> },
  pass: Pass,
  messages: readonly ContextMessage[],
) {
  const written = await readTranscript(store, pass.id)
  const known = written.flatMap(({ data }) => (typeof data.part === "string" ? [data.part] : []))
  createScribe(deps, () => pass, new Set(known)).rest(messages)
}
