import type { Reach } from "../session/client"
import { enterTree } from "../session/home"
import type { Firsts } from "./firsts"
import { createIdle } from "./idle"
import type { Asked, Near, Question, Replied } from "./wire"

type Instance = { reach: Reach; quit(): void; trouble(what: string): void }

type Asking = { instance: number; ask(question: Question): Promise<void> }

/** Who is there in opencode's thread for the engine's to ask: its instances, and the calls that may put a question. */
export type Desk = { instances: Map<number, Instance>; asks: Map<number, Asking> }

/** An instance is gone, and with it whatever somebody could have been asked there. */
export function leave({ instances, asks }: Desk, instance: number) {
  instances.delete(instance)
  for (const [call, asking] of asks) if (asking.instance === instance) asks.delete(call)
}

export const pairs = (headers: Headers | undefined) => [...(headers?.entries() ?? [])]

async function fetched({ fetch: send = fetch }: Reach, { url, method, headers, body }: Asked): Promise<Replied> {
  const response = await send(new Request(url, { method, headers, ...(body === "" ? {} : { body }) }))
  return { status: response.status, headers: pairs(response.headers), body: await response.text() }
}

const anyOf = ({ instances }: Desk) => instances.values().next().value

/** By whichever instance: the address says for which it is. */
export async function sent(desk: Desk, asked: Asked): Promise<Replied> {
  const found = anyOf(desk)
  if (!found) throw new Error("no project is open")
  return fetched(found.reach, asked)
}

/** What opencode's thread does for the engine's. */
export function nearSide(desk: Desk, firsts: Firsts): Near {
  const { instances, asks } = desk
  const any = () => anyOf(desk)
  return {
    async fetch(instance, asked) {
      const found = instances.get(instance)
      if (!found) throw new Error("this project is closed")
      return fetched(found.reach, asked)
    },
    make: firsts.make,
    rest: firsts.rest,
    async ask(call, question) {
      const asking = asks.get(call)
      if (!asking) throw new Error("this call is over")
      await asking.ask(question)
    },
    over: (call) => void asks.delete(call),
    tree: enterTree,
    idle: createIdle(),
    trouble: (what) => any()?.trouble(what),
    quit: () => any()?.quit(),
  }
}
