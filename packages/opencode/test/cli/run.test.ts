import { describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { duration, exitOf } from "../../src/cli/commands/run"
import { EXIT } from "../../src/cli/exit"
import { SARIF_SCHEMA } from "../../src/cli/sarif"
import { attendStarts } from "../../src/pass-over/service/start"
import { enter } from "../../src/server/presence"
import { createEngineWorld, type EngineWorld } from "../pass-over/support/engine"
import { settle } from "../pass-over/support/fake-clock"
import { createHome, type Home, type Ran } from "./support"

type Audit = Parameters<EngineWorld["host"]["script"]>[1]

/** An opencode that has the home's project open, and an audit that does what a test says. */
async function opencode(home: Home, audit: Audit) {
  const world = createEngineWorld({ path: home.database, seed: 80_000 })
  const presence = await enter(world.engine)
  world.project.directory = home.project
  world.engine.projects.set(home.project, world.project)
  world.host.script("audit", audit)
  return {
    ...world,
    /** Runs a command line while this opencode looks for work. */
    async during(ran: Promise<Ran>): Promise<Ran> {
      const state = { over: false }
      void ran.finally(() => (state.over = true))
      while (!state.over) {
        await attendStarts(world.engine, () => "alive")
        await world.clock.advance(1_000)
        await settle()
        await Bun.sleep(5)
      }
      return ran
    },
    [Symbol.asyncDispose]: async () => {
      await presence.leave()
      world[Symbol.dispose]()
    },
  }
}

const returns =
  (report: Record<string, unknown>): Audit =>
  async (child) => {
    await child.return(report)
    child.step()
  }

const FINDING = {
  severity: "error",
  category: "correctness",
  message: "total subtracts",
  path: "src/sub folder/total.ts",
  line: 3,
  column: 5,
  suggested_fix: "a + b",
}

describe("run", () => {
  test("waits for the result and ends by it", async () => {
    using home = createHome()
    await using world = await opencode(home, returns({ decision: "approved", decision_reason: "It is right." }))
    const argv = ["run", "audit", "Review", "the", "totals", "--from", "build", "--files", "src/a.ts", "src/b.ts"]
    const ran = await world.during(home.run(...argv, "--constraint", "read_only", "--timeout", "90s"))
    expect([ran.err, ran.code]).toEqual(["", EXIT.ok])
    expect(ran.out).toContain("audit: approved")
    expect(ran.out).toContain("It is right.")
    const [pass] = await world.engine.store.list({})
    expect(pass).toMatchObject({
      originating_agent_id: "build",
      objective: "Review the totals",
      constraints: ["read_only"],
      timeout_ms: 90_000,
    })
    // Nothing but what was asked for is said in a pipe.
    expect(ran.out).not.toContain("\r")
  })

  test("says with its exit code and in JSON that the agent objects, and writes the findings as SARIF", async () => {
    using home = createHome()
    await using world = await opencode(home, returns({ decision: "rejected", findings: [FINDING, "and slowly"] }))
    const ran = await world.during(home.run("run", "audit", "Review", "--json", "--sarif", "out/audit.sarif"))
    expect(ran.code).toBe(EXIT.objection)
    expect(ran.json()).toMatchObject({ exit_code: EXIT.objection, output: { summary: { decision: "rejected" } } })
    const log = JSON.parse(readFileSync(join(home.project, "out/audit.sarif"), "utf8")) as Record<string, unknown>
    expect(log).toMatchObject({
      $schema: SARIF_SCHEMA,
      version: "2.1.0",
      runs: [
        {
          tool: { driver: { name: "pass-over/audit", rules: [{ id: "correctness" }, { id: "general" }] } },
          automationDetails: { id: expect.stringMatching(/^pass-over\/audit\/[0-9a-f-]{36}$/) },
          // Code scanning refuses a file with a result that has no place.
          invocations: [
            {
              executionSuccessful: true,
              toolExecutionNotifications: [{ level: "warning", message: { text: "and slowly" } }],
            },
          ],
          results: [
            {
              ruleId: "correctness",
              level: "error",
              message: { text: "total subtracts\n\nSuggested fix:\na + b" },
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: "src/sub%20folder/total.ts", uriBaseId: "SRCROOT" },
                    region: { startLine: 3, startColumn: 5 },
                  },
                },
              ],
            },
          ],
        },
      ],
    })
    expect(ran.json()).toMatchObject({ sarif: { problem: null, left_out: 1 } })
    // Its pattern in the schema knows the versions 1 to 5 alone.
    expect(JSON.stringify(log)).not.toContain('"guid"')
  })

  test("says which findings the SARIF file holds only as notes", async () => {
    using home = createHome()
    await using world = await opencode(home, returns({ decision: "rejected", findings: ["slowly", FINDING] }))
    const ran = await world.during(home.run("run", "audit", "Review", "--sarif", "audit.sarif"))
    expect(ran.out).toContain(`only notes of the run in ${join(home.project, "audit.sarif")}: 1 finding.`)
  })

  test("finds out before the pass that its SARIF file cannot be written, and shows a result without it", async () => {
    using home = createHome()
    const file = join(home.project, "audit.sarif")
    await using world = await opencode(home, async (child) => {
      mkdirSync(file)
      await child.return({ decision: "approved", decision_reason: "It is right." })
      child.step()
    })
    for (const argv of [
      ["--sarif", "."],
      ["--sarif", ".git/config/a.sarif"],
      ["--sarif", "a", "--no-wait"],
    ]) {
      writeFileSync(join(home.project, ".git", "config"), "")
      const ran = await home.run("run", "audit", "Review", ...argv)
      expect([argv, ran.code]).toEqual([argv, EXIT.usage])
    }
    expect(await world.engine.store.list({})).toEqual([])
    const ran = await world.during(home.run("run", "audit", "Review", "--sarif", "audit.sarif"))
    expect(ran.code).toBe(EXIT.failed)
    expect(ran.out).toContain("It is right.")
    expect(ran.err).toContain("audit.sarif cannot be written")
  })

  test("tells a refusal with the rule that did it", async () => {
    using home = createHome()
    await using world = await opencode(home, returns({}))
    const ran = await world.during(home.run("run", "adit", "Review"))
    expect(ran).toMatchObject({ code: EXIT.refused, out: "" })
    expect(ran.err).toContain("adit")
    expect(await world.engine.store.list({})).toEqual([])
  })

  test("does not wait where it is not wanted", async () => {
    using home = createHome()
    await using world = await opencode(home, async (child) => child.told)
    const ran = await world.during(home.run("run", "audit", "Review", "--no-wait", "--json"))
    expect(ran.code).toBe(EXIT.ok)
    const { pass_over_id } = ran.json() as { pass_over_id: string }
    expect(await world.engine.store.list({})).toMatchObject([{ id: pass_over_id, status: "waiting_for_return" }])
  })

  test("cancels its pass when it is interrupted", async () => {
    using home = createHome()
    await using world = await opencode(home, async (child) => child.told)
    const running = home.run("run", "audit", "Review")
    const interrupted = (async () => {
      while (world.engine.running.all().length === 0) await Bun.sleep(5)
      process.emit("SIGINT")
      const { attend } = await import("../../src/pass-over/service/command")
      while (world.engine.running.all().length > 0) {
        await attend(world.engine)
        await Bun.sleep(5)
      }
    })()
    const [ran] = await Promise.all([world.during(running), interrupted])
    expect(ran.code).toBe(EXIT.cancelled)
    expect(await world.engine.store.list({})).toMatchObject([{ status: "cancelled" }])
  })

  test("says what to do where there is no opencode, and where it does not load the plugin", async () => {
    using home = createHome()
    const none = await home.on({ width: 0, env: { PATH: "" } }, "run", "audit", "Review")
    expect(none).toMatchObject({ code: EXIT.refused, err: expect.stringContaining("Install opencode") })
    const fake = home.folder.at("bin", "opencode")
    mkdirSync(home.folder.at("bin"))
    writeFileSync(fake, "#!/bin/sh\nexit 1\n")
    chmodSync(fake, 0o755)
    const idle = await home.on({ width: 0, env: { PASS_OVER_OPENCODE: fake } }, "run", "audit", "Review")
    expect(idle).toMatchObject({ code: EXIT.refused, err: expect.stringContaining("pass-over doctor") })
  })

  test("names what is not right in a call", async () => {
    using home = createHome()
    for (const argv of [
      ["audit"],
      ["audit", "Review", "--timeout", "soon"],
      ["audit", "Review", "--timeout", "200h"],
      ["audit", "Review", "--model", "fast"],
    ]) {
      expect([argv, (await home.run("run", ...argv)).code]).toEqual([argv, EXIT.usage])
    }
  })

  test("reads times as people write them", () => {
    expect(["90", "90s", "1.5m", "2h", "250ms"].map(duration)).toEqual([90_000, 90_000, 90_000, 7_200_000, 250])
  })

  test("has an exit code for every outcome", () => {
    const of = (status: string, decision?: string, error_code: string | null = null) =>
      exitOf({ output: { status, summary: { decision } }, error_code } as unknown as Parameters<typeof exitOf>[0])
    expect(of("completed")).toBe(EXIT.ok)
    expect(of("completed", "approved")).toBe(EXIT.ok)
    for (const decision of ["needs_modification", "rejected", "blocked"])
      expect(of("completed", decision)).toBe(EXIT.objection)
    expect(of("partial", "approved")).toBe(EXIT.partial)
    expect(of("failed", undefined, "E010")).toBe(EXIT.unsuccessful)
    expect(of("aborted", undefined, "E016")).toBe(EXIT.cancelled)
    expect(of("failed", undefined, "E017")).toBe(EXIT.cancelled)
  })
})
