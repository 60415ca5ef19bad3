/** Prompts that pass work on, by opencode's own `task` and by ours, in turns. */
import type { connect } from "../packages/opencode/src/session/client"

export type Times = { task: number[]; pass: number[] }
export type Plan = { warm: number; pairs: number; rounds: number }
export type Measured = { concurrency: number; times: Times }

type Client = Pick<ReturnType<typeof connect>, "session">
type Kind = keyof Times

// Long enough that each prompt finds an opencode with nothing to do, as after a turn of a model that takes seconds. What a
// pass still does when it is over, 1.5 s later or 3 s where another runs just then, would else fall into somebody's prompt:
// without a pause nearly always into one of `task`.
const AFTER_ONE_MS = 1_800
const AFTER_MANY_MS = 3_300

async function once({ session }: Client, kind: Kind): Promise<number> {
  const sessionID = (await session.create()).data?.id ?? ""
  const began = performance.now()
  await session.prompt({ sessionID, agent: "build", parts: [{ type: "text", text: `${kind}: go` }] })
  return performance.now() - began
}

const round = (client: Client, concurrency: number, kind: Kind) =>
  Promise.all(Array.from({ length: concurrency }, () => once(client, kind)))

async function turns(client: Client, concurrency: number, count: number): Promise<Times> {
  const times: Times = { task: [], pass: [] }
  for (let index = 0; index < count; index += 1) {
    // Who goes first changes, so that neither has the warmer machine.
    const order: Kind[] = index % 2 === 0 ? ["task", "pass"] : ["pass", "task"]
    for (const kind of order) {
      await Bun.sleep(concurrency === 1 ? AFTER_ONE_MS : AFTER_MANY_MS)
      times[kind].push(...(await round(client, concurrency, kind)))
    }
  }
  return times
}

/** The first prompts of a process are slower, of both kinds: they are told apart, as concurrency 1 before all others. */
export async function measure(client: Client, { warm, pairs, rounds }: Plan): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const [concurrency, count] of [
    [1, warm],
    [1, pairs],
    [4, rounds],
    [16, rounds],
  ] as const) {
    measured.push({ concurrency, times: await turns(client, concurrency, count) })
  }
  return measured
}
