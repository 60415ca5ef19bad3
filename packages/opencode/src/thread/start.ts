import { existsSync } from "node:fs"
import { join } from "node:path"
import { databasePath } from "../paths"
import { STANDBY, STANDBY_NAME } from "../standby/name"
import { closedIn, createMemory } from "./closed"
import { nearSide, sent, type Desk } from "./desk"
import { createFirsts } from "./firsts"
import { wire, type Far, type Near } from "./wire"

// In the package everything lies beside what is bundled.
const THREADS = [join(import.meta.dir, "thread.js"), join(import.meta.dir, "far.ts")]

/** What stands on a command line behind the program, which a thread is told anew. */
const words = ([, first = "", ...rest]: readonly string[]) => (/[\\/]/.test(first) ? rest : [first, ...rest])

/** The thread has an environment of its own, from which what it reads is taken out again. */
const environment = () => ({
  ...(process.env as Record<string, string>),
  ...(STANDBY === undefined ? {} : { [STANDBY_NAME]: STANDBY }),
})

function start(buried: readonly string[]) {
  const path = THREADS.find((each) => existsSync(each))
  if (path === undefined) throw new Error("a file of its package is missing: thread.js")
  const desk: Desk = { instances: new Map(), asks: new Map() }
  const worker = new Worker(path, {
    name: "pass-over",
    argv: words(process.argv),
    env: environment(),
    // It does not keep an opencode alive that wants to end.
    ref: false,
  })
  const end = {
    post: (message: string) => worker.postMessage(message),
    listen: (heard: (message: string) => void) =>
      worker.addEventListener("message", ({ data }: MessageEvent<string>) => heard(data)),
  }
  const memory = createMemory()
  worker.postMessage(memory)
  const firsts = createFirsts((asked) => sent(desk, asked))
  const far = wire<Far, Near>(end, nearSide(desk, firsts))
  const { promise: lost, resolve: lose } = Promise.withResolvers<string>()
  const thread = {
    worker,
    far,
    desk,
    firsts,
    closed: closedIn(memory),
    lost,
    over: false,
    buried,
    owners: new Array<string>(),
  }
  const ended = (why: string) => {
    if (thread.over) return
    thread.over = true
    far.$close(new Error(why))
    lose(why)
  }
  worker.addEventListener("error", ({ message }) => ended(message))
  worker.addEventListener("close", () => ended("its thread has ended"))
  return thread
}

type Thread = ReturnType<typeof start>

// One to a database, as each has its own engine.
const threads = new Map<string, Thread>()

/** The engine's thread; one in the place of one that has ended is told whose passes nobody carries any more. */
export function engineThread(): Thread {
  const path = databasePath()
  const known = threads.get(path)
  if (known && !known.over) return known
  const made = start([...(known?.buried ?? []), ...(known?.owners ?? [])])
  threads.set(path, made)
  return made
}
