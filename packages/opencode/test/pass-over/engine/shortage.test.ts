import { describe, expect, test } from "bun:test"
import type { AuditAction } from "../../../src/pass-over/domain/audit-log"
import { openEnvelope, envelope } from "../../../src/pass-over/domain/envelope"
import { note } from "../../../src/pass-over/domain/pass"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"

const LIMITED = {
  origin: "project" as const,
  path: ".opencode/pass-over.json",
  preferences: { subagents: { audit: { max_memory_mb: 100 } } },
}
const WHERE = "max_memory_mb is 100, set at subagents.audit.max_memory_mb in .opencode/pass-over.json"

async function lineOf(world: EngineWorld, action: AuditAction) {
  const lines = await world.engine.store.audit({ session_id: "ses_root" })
  return lines.findLast((line) => line.action === action)
}

async function pass(world: EngineWorld, output: string, exit: number, ends: "return" | "stop" = "return") {
  world.host.script("audit", async (child) => {
    child.tool("bash", { command: "python3 build.py" }, output, { exit })
    if (ends === "stop") return child.told
    await child.return(VERDICT)
    child.step({})
  })
  const runner = await started(world)
  return outcomeOf(world, runner)
}

describe("a pass whose command met max_memory_mb", () => {
  test("ends well, and its outcome, what its originator reads, its audit line and its return name E014", async () => {
    using world = createEngineWorld()
    world.preferences.push(LIMITED)
    const { output, error_code } = await pass(world, "MemoryError\n", 1)
    expect(error_code).toBeNull()
    const message = `\`python3 build.py\` ran out of memory ("MemoryError"): ${WHERE}`
    expect(output.summary.errors).toMatchObject([{ code: "E014", message }])
    expect((await world.engine.store.outcome(output.work_id))?.output).toEqual(output)
    expect(openEnvelope(envelope(output, 0, () => "0".repeat(16)))?.body).toMatchObject({
      errors: [`E014: ${message}`],
    })

    const line = await lineOf(world, "returned")
    expect(line).toMatchObject({
      error_code: null,
      detail: { errors: [{ code: "E014", name: "RESOURCE_EXHAUSTED", recoverable: true, message }] },
    })
    const again = note((await world.engine.store.find(output.work_id))!, {
      action: "processed",
      actor: "a",
      at: 1,
      output,
    })
    expect(again.detail).toBeNull()
    const [context] = await world.engine.store.returns({ limit: 10 })
    expect(context?.processing_errors).toEqual([`E014 ${message}`])
  })

  test("is told of also where the pass itself failed for another reason", async () => {
    using world = createEngineWorld()
    world.preferences.push(LIMITED)
    const { output, error_code } = await pass(world, "MemoryError\n", 1, "stop")
    expect(error_code).toBe("E010")
    expect(output.summary.errors).toMatchObject([{ code: "E014" }])
    const line = await lineOf(world, "timed_out")
    expect(line?.detail).toMatchObject({ error: { code: "E010" }, errors: [{ code: "E014" }] })
  })
})

test("another failure, or a limit that nobody has set, is no error of the pass", async () => {
  using world = createEngineWorld()
  expect((await pass(world, "MemoryError\n", 1)).output.summary.errors).toBeUndefined()
  world.preferences.push(LIMITED)
  const { output } = await pass(world, "1 test failed\n", 1)
  expect(output.summary.errors).toBeUndefined()
  expect((await pass(world, "Segmentation fault\n", 139)).output.summary.errors).toBeUndefined()
  const line = await lineOf(world, "returned")
  expect(line?.detail).not.toHaveProperty("errors")
})
