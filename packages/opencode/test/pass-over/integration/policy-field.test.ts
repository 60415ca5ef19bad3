import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { call, fault, say, type ModelRequest } from "@pass-over/rehearsal"
import { createWorld, endWorld, type World } from "../support/opencode"
import { until } from "../support/until"

setDefaultTimeout(120_000)

// Every field of the preferences, on the real opencode: what happens with it, and what happens without it.
const held = {} as { world: World }

const OPEN = { "*": "allow" }
const PASSES_ON = { pairs: { "wren->audit": {} } }
beforeAll(async () => {
  held.world = await createWorld({
    // Who passes work on is seen when opencode makes its instance.
    preferences: PASSES_ON,
    config: { agent: { wren: { mode: "subagent", description: "Does", prompt: "You do.", permission: OPEN } } },
    files: { "long.txt": "a line of text\n".repeat(2_000) },
  })
})
afterEach(() => use({}))
afterAll(async () => {
  held.world.model.verify()
  expect(await endWorld(held.world)).toEqual([])
})

const use = (preferences: unknown) => held.world.box.write(".opencode/pass-over.json", JSON.stringify(preferences))
const at = (path: string) => join(held.world.box.project, path)
const content = (path: string) => existsSync(at(path))

const APPROVED = { decision: "approved", decision_reason: "It is right." }
const REJECTED = { decision: "rejected", decision_reason: "It is wrong.", findings: ["The sign is wrong."] }

type Turn = ReturnType<typeof call> | ((request: ModelRequest) => unknown)
type Passed = {
  to?: string
  child?: Turn[]
  ask?: object
  preferences?: unknown
  text?: string
  /** What agents further down do. */
  below?: Record<string, Turn[]>
}

let serial = 0

/** One pass from alice to wren under some preferences; what the child was sent, and what alice was told. */
async function pass({ to = "wren", child, ask = {}, preferences = {}, text = "Go.", below = {} }: Passed) {
  const { model, server, store } = held.world
  use(preferences)
  serial += 1
  const back = call("pass_over_return", APPROVED)
  model.play({
    agents: {
      alice: [
        call("pass_over", { subagent: to, objective: `Do part ${serial}`, reason: "test", ...ask }),
        (request: ModelRequest) => say(request.result("pass_over") ?? "nothing"),
      ],
      ...(child?.length === 0 ? {} : { [to]: (child ?? [back]) as never }),
      ...(below as Record<string, never>),
    },
  })
  const answer = await server.prompt({ agent: "alice", text })
  const [found] = await store.list({ session_id: answer.sessionID })
  const outcome = found && (await store.outcome(found.id))
  const told = answer.text ?? ""
  return { told, pass: found, outcome, session: answer.sessionID, sent: model.requests({ agent: to }) }
}

const pair = (fields: object) => ({ pairs: { "alice->wren": fields } })
const subagent = (fields: object) => ({ subagents: { wren: fields } })
const back = (report: Record<string, unknown> = APPROVED) => call("pass_over_return", report)

describe("who may pass to whom", () => {
  test("enabled, with its reason", async () => {
    expect((await pass({})).told).toContain("wren: approved")
    const off = await pass({ preferences: pair({ enabled: false, reason: "not on Fridays" }), child: [] })
    expect(off.told).toStartWith("Not done. E004")
    expect(off.told).toContain("not on Fridays")
  })

  test("can_receive_passes", async () => {
    const off = await pass({ preferences: subagent({ can_receive_passes: false }), child: [] })
    expect(off.told).toStartWith("Not done. E004")
  })

  test("max_chain_depth", async () => {
    const nested = call("pass_over", { subagent: "audit", objective: "Below", reason: "test" })
    const seen: boolean[] = []
    const shown = (then: Turn) => (request: ModelRequest) => (
      seen.push(request.tools.some(({ name }) => name === "pass_over")),
      typeof then === "function" ? then(request) : then
    )
    const told: string[] = []
    const after = (request: ModelRequest) => (told.push(request.result("pass_over") ?? ""), back())
    // In the instance that began with it, and not in one of a tree that an earlier pass has left.
    const at = (max_chain_depth: number) => ({ ...PASSES_ON, defaults: { isolation: "none", max_chain_depth } })
    const below = { audit: [back()] }
    await pass({
      child: [shown(nested), after],
      preferences: at(3),
      below,
    })
    await pass({ child: [shown(back())], preferences: at(2) })
    const own = { ask: { override: { max_chain_depth: 2 } } }
    await pass({ child: [shown(back())], preferences: at(3), ...own })
    expect(told).toEqual([expect.stringContaining("audit: approved")])
    // At the end of the chain the tool is not even shown.
    expect(seen).toEqual([true, false, false])
  })
})

describe("what goes along", () => {
  test("pass_context and pass_files", async () => {
    const say_it = "The moon is made of basalt."
    const open = await pass({ text: say_it, ask: { files: ["src/total.ts"] } })
    expect(open.sent[0]?.user).toContain("basalt")
    expect(open.sent[0]?.user).toContain("a - b")
    const shut = await pass({
      text: say_it,
      ask: { files: ["src/total.ts"] },
      preferences: pair({ pass_context: false, pass_files: false }),
    })
    expect(shut.sent.at(-1)?.user).not.toContain("basalt")
    expect(shut.sent.at(-1)?.user).not.toContain("a - b")
  })

  test("max_context_size_bytes", async () => {
    const open = await pass({ ask: { files: ["long.txt"] } })
    const tight = await pass({ ask: { files: ["long.txt"] }, preferences: pair({ max_context_size_bytes: 2_000 }) })
    expect(open.pass?.context_bytes).toBeGreaterThan(20_000)
    expect(tight.pass?.context_bytes).toBeLessThanOrEqual(2_000)
  })
})

describe("time, tokens and money", () => {
  const hang = () => [fault.stall()] as unknown as Turn[]

  test("timeout_ms and max_compute_time_ms", async () => {
    for (const preferences of [pair({ timeout_ms: 1_500 }), subagent({ max_compute_time_ms: 1_500 })]) {
      const out = await pass({ preferences, child: hang() })
      expect(out.outcome?.error_code).toBe("E010")
      expect(out.pass).toMatchObject({ timeout_ms: 1_500, status: "timed_out" })
    }
  })

  test("idle_timeout_ms", async () => {
    const out = await pass({ preferences: pair({ timeout_ms: 1_300, idle_timeout_ms: 1_000 }), child: hang() })
    expect(out.outcome?.output.completion_reason).toContain("nothing came from it for")
  })

  test("max_tokens and max_cost", async () => {
    const read = call("read", { filePath: at("src/total.ts") })
    const over = await pass({ preferences: pair({ max_tokens: 1 }), child: [read] })
    expect(over.outcome).toMatchObject({ error_code: "E015", output: { status: "partial" } })
    const free = await pass({ child: [read, back()] })
    expect(free.outcome?.error_code).toBeNull()
  })
})

describe("rights", () => {
  const writes = (path: string) => [call("write", { filePath: at(path), content: "x\n" }), back()]

  // In the project itself, where what a child writes is there: in a tree of its own it never is.
  const here = { isolation: "none" }

  test("can_modify_files", async () => {
    await pass({ child: writes("may.txt"), preferences: pair(here) })
    expect(content("may.txt")).toBe(true)
    const held = { ...pair(here), ...subagent({ can_modify_files: false }) }
    await pass({ child: writes("may-not.txt"), preferences: held })
    expect(content("may-not.txt")).toBe(false)
  })

  test("can_run_tools", async () => {
    const without = await pass({ preferences: subagent({ can_run_tools: false }) })
    expect(without.sent.at(-1)?.tools.map(({ name }) => name)).toEqual(["pass_over_return"])
  })

  test("constraints of the pair", async () => {
    await pass({ child: writes("free.txt"), preferences: pair(here) })
    expect(content("free.txt")).toBe(true)
    const limited = pair({ ...here, constraints: ["paths: src/*"] })
    await pass({ child: writes("held.txt"), preferences: limited })
    expect(content("held.txt")).toBe(false)
    await pass({ child: writes("src/within.txt"), preferences: limited })
    expect(content("src/within.txt")).toBe(true)
  })

  test("max_memory_mb holds for what the child's shell starts", async () => {
    const run = (command: string) => call("bash", { command, description: "Fill memory" })
    const fill = run(`bash -c 'x=$(head -c 300000000 /dev/zero | tr "\\0" a); echo filled \${#x}'`)
    const python = Bun.which("python3") ? [run("python3 -c 'print(len(bytearray(300_000_000)))'")] : []
    const commands = [
      fill,
      run(`node -e 'console.log(Buffer.alloc(1_000_000_000, 1).length)'`),
      ...python,
      // Ended as a program is that does not look whether it got its memory.
      run("sh -c 'kill -SEGV $$'"),
      run("ls does-not-exist"),
      run("exit 3"),
    ]
    const told: string[][] = []
    const child = (wanted: typeof commands) => {
      const said: string[] = []
      told.push(said)
      return [
        ...wanted.map((command, at) => (request: ModelRequest) => {
          if (at > 0) said.push(request.result("bash") ?? "")
          return command
        }),
        (request: ModelRequest) => (said.push(request.result("bash") ?? ""), back()),
      ]
    }
    const limited = await pass({ child: child(commands), preferences: subagent({ max_memory_mb: 100 }) })
    await pass({ child: child([fill, commands.at(-1)!]) })

    const [limit, free] = told as [string[], string[]]
    const sure = limit.slice(0, -3)
    const [silent, ...others] = limit.slice(-3)
    for (const said of sure) {
      expect(said).toContain("E014 RESOURCE_EXHAUSTED: The command ran out of memory")
      expect(said).toMatch(
        /max_memory_mb is 100, set at subagents\.wren\.max_memory_mb in \S+\/\.opencode\/pass-over\.json/,
      )
    }
    expect(sure[0]).not.toContain("filled")
    expect(silent).toContain("The command may have run out of memory (exit code 139, SIGSEGV)")
    for (const said of [...others, ...free]) expect(said).not.toContain("E014")
    expect(free[0]).toContain("filled 300000000")

    expect(limited.outcome).toMatchObject({ error_code: null, output: { status: "completed" } })
    expect(limited.outcome?.output.summary.errors?.map(({ code }) => code)).toEqual(sure.map(() => "E014"))
    expect(limited.told).toMatch(/E014: `bash -c .* ran out of memory/)
  })
})

describe("what comes back", () => {
  test("auto_return and auto_review", async () => {
    const straight = await pass({ child: [back(REJECTED)] })
    expect(straight.told).toContain("wren: rejected")
    const kept = await pass({ child: [back(REJECTED)], preferences: pair({ auto_return: false }) })
    expect(kept.told).toContain("its result is held for a person")
    expect(kept.outcome?.output.summary.decision).toBe("rejected")
    const clean = await pass({ preferences: pair({ auto_return: false }) })
    expect(clean.told).toContain("wren: approved")
    const strict = await pass({ preferences: pair({ auto_return: false, auto_review: false }) })
    expect(strict.told).toContain("its result is held for a person")
    const gates = await held.world.store.gates({ status: ["pending"] })
    expect(gates.map((gate) => gate.kind)).toEqual(["delivery", "delivery"])
  })

  test("output_schema and validate_output", async () => {
    const output_schema = { type: "object", properties: { decision: { enum: ["blocked"] } } }
    const answers: string[] = []
    const twice = [
      back(),
      (request: ModelRequest) => (
        answers.push(request.result("pass_over_return") ?? ""),
        back({ decision: "blocked", decision_reason: "as wanted" })
      ),
    ]
    const strict = await pass({ child: twice, preferences: subagent({ output_schema }) })
    expect(answers[0]).toContain("E021")
    expect(strict.outcome?.output.summary.decision).toBe("blocked")
    const lax = await pass({ preferences: { subagents: { "*": { validate_output: false }, wren: { output_schema } } } })
    expect(lax.outcome?.output.summary.decision).toBe("approved")
  })

  for (const [notify_on_return, toasts] of [
    ["always", 1],
    ["never", 0],
  ] as const) {
    test(`notify_on_return ${notify_on_return}`, async () => {
      // What the pass before has to tell comes a moment after it.
      await Bun.sleep(1_000)
      const events = await held.world.server.events()
      await pass({ preferences: pair({ notify_on_return }) })
      await Bun.sleep(1_200)
      const shown = events.list.filter((event) => event.type === "tui.toast.show")
      events.close()
      expect(shown).toHaveLength(toasts)
    })
  }
})

describe("what is written down", () => {
  const lines = (folder: string, session: string) =>
    content(`${folder}/${new Date().toISOString().slice(0, 7)}/session-${session}-passes.jsonl`)

  test("log_directory and log_all_passes", async () => {
    const folder = ".opencode/records"
    const on = await pass({ preferences: { audit: { log_directory: folder } } })
    await until("the lines in their file", async () => lines(folder, on.session) || undefined)
    const off = await pass({ preferences: { audit: { log_directory: folder, log_all_passes: false } } })
    await Bun.sleep(1_500)
    expect(lines(folder, off.session)).toBe(false)
    // The database has it in any case.
    expect((await held.world.store.audit({ session_id: off.session })).length).toBeGreaterThan(2)
  })
})

describe("questions to a person", () => {
  test("gate_ttl_ms and gate_default", async () => {
    const confirmed = { require_confirmation: true, gate_ttl_ms: 800 }
    const no = await pass({ preferences: pair(confirmed), child: [] })
    expect(no.outcome?.error_code).toBe("E017")
    expect(no.told).toContain("by default, because nobody answered in time")
    const yes = await pass({ preferences: pair({ ...confirmed, gate_default: "approve" }) })
    expect(yes.told).toContain("wren: approved")
  })
})
