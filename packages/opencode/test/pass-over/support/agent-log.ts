import type { LogMessage } from "../../../src/pass-over/domain/select/log"

/** Logs of several agents at work, made up: who speaks how long and how often is as such systems do; the words are not. */
export type AgentLog = {
  messages: LogMessage[]
  objective: string
  /** Messages in which an agent did something. */ acts: number[]
}

export function random(seed: number) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Draw = () => number

const SYLLABLES = "ba ce di fo gu la me ni po ru sa te vi xo zu kan der ting mor ple sta tri con ver pro".split(" ")
const SMALL = "the of to and in is for on with that it as was this we are by be from at".split(" ")

const pick = <T>(draw: Draw, list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T
const between = (draw: Draw, low: number, high: number) => low + Math.floor(draw() * (high - low + 1))

const word = (draw: Draw) => Array.from({ length: between(draw, 1, 4) }, () => pick(draw, SYLLABLES)).join("")

const vocabulary = (draw: Draw, size: number) => Array.from({ length: size }, () => word(draw))

type Tongue = { draw: Draw; words: string[] }

/** Common words often, rare ones seldom, as in any language. */
const say = ({ draw, words }: Tongue) =>
  draw() < 0.4 ? pick(draw, SMALL) : (words[Math.floor(words.length * draw() ** 3)] ?? "word")

function sentence(tongue: Tongue): string {
  const words = Array.from({ length: between(tongue.draw, 6, 20) }, () => say(tongue))
  if (tongue.draw() < 0.3) words.push(String(between(tongue.draw, 10, 99_999)))
  const text = words.join(" ")
  return `${text[0]?.toUpperCase()}${text.slice(1)}.`
}

const prose = (tongue: Tongue, sentences: number) => Array.from({ length: sentences }, () => sentence(tongue)).join(" ")

const list = (tongue: Tongue, count: number) =>
  Array.from({ length: count }, (_, index) => `${index + 1}. ${sentence(tongue)}`).join("\n")

const code = (tongue: Tongue, lines: number) =>
  [
    "```python",
    ...Array.from(
      { length: lines },
      () => `${say(tongue)}_${say(tongue)} = ${say(tongue)}(${between(tongue.draw, 0, 999)})`,
    ),
    "```",
  ].join("\n")

const address = (tongue: Tongue) =>
  `https://www.${word(tongue.draw)}.com/${say(tongue)}/${say(tongue)}?q=${say(tongue)}&id=${Array.from({ length: between(tongue.draw, 4, 50) }, () => between(tongue.draw, 0, 35).toString(36)).join("")}`

const page = (tongue: Tongue, lines: number) =>
  [
    `I clicked '${say(tongue)} ${say(tongue)}'.`,
    `Here is a screenshot of [${say(tongue)} ${say(tongue)}](${address(tongue)}). The viewport shows ${between(tongue.draw, 5, 100)}% of the page.`,
    "The following metadata was extracted from the page:",
    "{",
    ...Array.from(
      { length: between(tongue.draw, 2, 8) },
      () => `    "${say(tongue)}:${say(tongue)}": "${draw2(tongue)}",`,
    ),
    "}",
    "The following text was detected:",
    ...Array.from({ length: lines }, () =>
      Array.from({ length: between(tongue.draw, 1, 9) }, () => say(tongue)).join(" "),
    ),
  ].join("\n")

const draw2 = (tongue: Tongue) => (tongue.draw() < 0.4 ? address(tongue) : sentence(tongue))

function experts(tongue: Tongue): AgentLog {
  const { draw } = tongue
  const names = [`${word(draw)}_Expert`, `${word(draw)}_Expert`, "Verification_Expert"]
  const objective = prose(tongue, 2)
  const messages: LogMessage[] = [
    {
      role: "user",
      agent: names[0],
      text: `# General Task\n${objective}\n\n## Plan for solving the task\n${list(tongue, 4)}\n\n## Constraints\n${list(tongue, 3)}`,
    },
  ]
  const rounds = between(draw, 2, 5)
  for (let round = 0; round < rounds; round += 1) {
    const text = `${prose(tongue, between(draw, 2, 12))}\n\n${draw() < 0.6 ? code(tongue, between(draw, 4, 25)) : list(tongue, 3)}`
    messages.push({ role: "user", agent: pick(draw, names), text })
    if (text.includes("```")) {
      const output =
        draw() < 0.3
          ? `exitcode: 1 (execution failed)\nTraceback: ${sentence(tongue)}`
          : `exitcode: 0\nCode output: ${say(tongue)}`
      messages.push({ role: "user", agent: "Computer_terminal", text: output })
    }
    if (draw() < 0.5)
      messages.push({ role: "user", agent: pick(draw, names), text: prose(tongue, between(draw, 1, 6)) })
  }
  messages.push({ role: "user", agent: pick(draw, names), text: "TERMINATE" })
  return finish(messages, objective)
}

const ledger = (tongue: Tongue, instruction: string) =>
  `Updated Ledger:\n${JSON.stringify(
    Object.fromEntries(
      ["is_request_satisfied", "is_in_loop", "is_progress_being_made", "next_speaker", "instruction_or_question"].map(
        (key) => [
          key,
          { reason: sentence(tongue), answer: key === "instruction_or_question" ? instruction : tongue.draw() < 0.5 },
        ],
      ),
    ),
    null,
    2,
  )}`

function browsing(tongue: Tongue): AgentLog {
  const { draw } = tongue
  const objective = prose(tongue, 2)
  const messages: LogMessage[] = [
    { role: "user", agent: "human", text: objective },
    {
      role: "assistant",
      agent: "Orchestrator (thought)",
      text: `Initial plan:\n\n${objective}\n\nTeam:\n${list(tongue, 4)}\n\nFacts:\n${list(tongue, 6)}\n\nPlan:\n${list(tongue, 5)}`,
    },
  ]
  for (let round = between(draw, 5, 18); round > 0; round -= 1) {
    const instruction = sentence(tongue)
    const agent = pick(draw, ["WebSurfer", "WebSurfer", "WebSurfer", "Assistant", "FileSurfer"])
    messages.push(
      { role: "assistant", agent: "Orchestrator (thought)", text: ledger(tongue, instruction) },
      { role: "assistant", agent: `Orchestrator (-> ${agent})`, text: instruction },
    )
    if (agent === "Assistant") {
      messages.push({
        role: "assistant",
        agent,
        text: `${prose(tongue, between(draw, 2, 10))}\n${draw() < 0.5 ? code(tongue, 12) : ""}`,
      })
      messages.push({ role: "assistant", agent: "ComputerTerminal", text: `The script ran: ${sentence(tongue)}` })
      continue
    }
    const lines = Math.floor(10 + 150 * draw() ** 2)
    messages.push({ role: "assistant", agent, text: draw() < 0.2 ? prose(tongue, 4) : page(tongue, lines) })
  }
  messages.push({ role: "assistant", agent: "Orchestrator (final answer)", text: `FINAL ANSWER: ${say(tongue)}` })
  return finish(messages, objective)
}

const PASSIVE = /terminal|human|thought/i

const finish = (messages: LogMessage[], objective: string): AgentLog => ({
  messages,
  objective,
  acts: messages.flatMap(({ agent = "", text }, index) =>
    (PASSIVE.test(agent) && !text.startsWith("Initial plan")) || text.length < 40 ? [] : [index],
  ),
})

export function agentLog(seed: number): AgentLog {
  const draw = random(seed)
  const tongue = { draw, words: vocabulary(draw, 600) }
  return draw() < 0.6 ? experts(tongue) : browsing(tongue)
}

/** Runs of five words, as a reader would look for them. */
export function runs(text: string): Set<string> {
  const words = text.toLowerCase().match(/\S+/g) ?? []
  if (words.length < 5) return new Set([words.join(" ")])
  return new Set(Array.from({ length: words.length - 4 }, (_, at) => words.slice(at, at + 5).join(" ")))
}

/** How much of a text can still be read in another. */
export function readable(text: string, within: ReadonlySet<string>): number {
  const all = runs(text)
  let found = 0
  for (const run of all) if (within.has(run)) found += 1
  return found / all.size
}
