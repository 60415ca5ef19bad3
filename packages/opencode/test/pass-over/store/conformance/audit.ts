import { describe, expect, test } from "bun:test"
import { AuditLine } from "../../../../src/pass-over/domain/audit-log"
import { event, note, type AuditNote, type Pass } from "../../../../src/pass-over/domain/pass"
import type { AuditFilter } from "../../../../src/pass-over/service/port"
import { brokenAt } from "../../support/chain"
import { createScene, type Scene, type Setup } from "./scene"

const many = 20

const refuse = (scene: Scene, overrides: Partial<Pass> = {}, more: Partial<AuditNote> = {}) => {
  const pass = scene.pass(overrides)
  const at = scene.clock.now()
  const refused = note(pass, { action: "refused", actor: "alice", at, error_code: "E003", summary: "a loop" })
  return scene.store.refuse({ ...refused, ...more }, event(pass, "pass.refused", at, { code: "E003" }))
}

const seqs = (lines: readonly AuditLine[]) => lines.map(({ seq }) => seq)

function chainContract(setup: Setup) {
  describe("the chain of a session", () => {
    test("stays whole while two sessions take turns", async () => {
      await using scene = await createScene(setup)
      for (let turn = 0; turn < 3; turn += 1) {
        await scene.returned({ session_id: "ses_a" })
        await refuse(scene, { session_id: "ses_b" })
        await scene.running({ session_id: "ses_b" })
      }
      const [a, b] = [await scene.lines("ses_a"), await scene.lines("ses_b")]
      expect([a.length, b.length]).toEqual([9, 9])
      expect([brokenAt(a), brokenAt(b)]).toEqual([undefined, undefined])
    })

    test("stays whole when many write at once", async () => {
      await using scene = await createScene(setup)
      await Promise.all(Array.from({ length: many }, () => scene.opened()))
      const lines = await scene.lines()
      expect(lines).toHaveLength(many)
      expect(brokenAt(lines)).toBeUndefined()
    })

    test("stays whole after an operation that failed", async () => {
      await using scene = await createScene(setup)
      await scene.opened()
      await expect(refuse(scene, {}, { actor: "" })).rejects.toThrow()
      await scene.opened()
      const lines = await scene.lines()
      expect(seqs(lines)).toEqual([1, 2])
      expect(brokenAt(lines)).toBeUndefined()
    })

    test.each([
      ["half of an emoji", "cut off \ud83d here"],
      ["a byte order mark", "\uFEFFfirst"],
      ["a zero byte", "before\u0000after"],
      ["line breaks of every kind", "a\r\nb\u2028c\u2029d"],
      ["letters that look alike", "e\u0301 and \u00e9 \u202egnp"],
      ["quotes and braces", `"}],{"seq":99,"hash":"0"}'; drop table x; --`],
      ["nothing", ""],
    ])("stays whole when the text holds %s", async (_what, text) => {
      await using scene = await createScene(setup)
      await refuse(scene, { reason: text, policy: text, overrides: { [text]: text } }, { summary: text })
      await refuse(scene)
      expect(brokenAt(await scene.lines())).toBeUndefined()
    })

    test("stays whole when numbers are not", async () => {
      await using scene = await createScene(setup)
      await refuse(scene, { time_started: 1_500.5 }, { duration_ms: 0.1 + 0.2, completed_at: 1e15, returned_at: -0 })
      expect(brokenAt(await scene.lines())).toBeUndefined()
    })

    test("breaks where a line was changed, taken out or put in", async () => {
      await using scene = await createScene(setup)
      await scene.returned()
      const lines = await scene.lines()
      const [first, second, third] = lines as [AuditLine, AuditLine, AuditLine]
      expect(brokenAt(lines)).toBeUndefined()
      expect(brokenAt([first, { ...second, reason: "another" }, third])).toBeDefined()
      expect(brokenAt([first, third])).toBeDefined()
      expect(brokenAt([second, third])).toBeDefined()
      expect(brokenAt([first, second, { ...third, prev: first.hash }])).toBeDefined()
    })
  })
}

function queryContract(setup: Setup) {
  describe("audit", () => {
    test("a line is what the schema of the log says", async () => {
      await using scene = await createScene(setup)
      await scene.returned()
      await refuse(scene)
      for (const line of await scene.lines()) expect(AuditLine.parse(line)).toEqual(line)
    })

    test("a refusal is on record though there is no pass", async () => {
      await using scene = await createScene(setup)
      await refuse(scene, { id: scene.ids.pass() })
      const [line] = await scene.lines()
      expect(line).toMatchObject({ action: "refused", error_code: "E003", actor: "alice", summary: "a loop" })
      expect(await scene.store.list({})).toEqual([])
      expect(await scene.events()).toMatchObject([{ type: "pass.refused", data: { code: "E003" } }])
    })

    test("when a refusal cannot be put on record there is no event of it", async () => {
      await using scene = await createScene(setup)
      await expect(refuse(scene, {}, { actor: "" })).rejects.toThrow()
      expect(await scene.events()).toEqual([])
      expect(await scene.lines()).toEqual([])
    })

    test("the newest line comes first, across sessions, as many as are asked for", async () => {
      await using scene = await createScene(setup)
      // Written later with an earlier time: the order is that of writing, because clocks jump.
      for (const [session_id, summary] of [
        ["ses_a", "one"],
        ["ses_b", "two"],
        ["ses_a", "three"],
      ] as const) {
        await refuse(scene, { session_id }, { summary })
        scene.clock.set(scene.clock.now() - 1_000)
      }
      const summaries = async (filter: AuditFilter) => (await scene.store.audit(filter)).map(({ summary }) => summary)
      expect(await summaries({})).toEqual(["three", "two", "one"])
      expect(await summaries({ limit: 2 })).toEqual(["three", "two"])
      expect(await summaries({ session_id: "ses_a" })).toEqual(["three", "one"])
    })

    test("a question is answered page by page, the newest first by time", async () => {
      await using scene = await createScene(setup)
      for (const summary of ["one", "two", "three"]) {
        scene.clock.advance(1_000)
        await refuse(scene, {}, { summary, error_code: "E003" })
      }
      const first = await scene.store.queryAudit({ limit: 2, error_code: "E003" })
      expect(first.lines.map(({ summary }) => summary)).toEqual(["three", "two"])
      const second = await scene.store.queryAudit({ limit: 2, error_code: "E003", cursor: first.cursor ?? "" })
      expect(second.lines.map(({ summary }) => summary)).toEqual(["one"])
      expect(second.cursor).toBeNull()
      expect((await scene.store.queryAudit({ text: "two" })).lines).toHaveLength(1)
    })

    test("each filter narrows, and both ends of a time belong to it", async () => {
      await using scene = await createScene(setup)
      const start = scene.clock.now()
      const first = await scene.running()
      scene.clock.advance(1_000)
      await refuse(scene, { originating_agent_id: "build", subagent_id: "scout" })
      scene.clock.advance(1_000)
      await scene.opened({ session_id: "ses_b", subagent_id: "inspector" })
      const actions = async (filter: AuditFilter) =>
        (await scene.store.audit(filter)).map(({ action }) => action).toReversed()
      expect(await actions({ pass_over_id: first.id })).toEqual(["requested", "dispatched"])
      expect(await actions({ session_id: "ses_b" })).toEqual(["requested"])
      expect(await actions({ originating_agent: "build" })).toEqual(["refused"])
      expect(await actions({ subagent: "inspector" })).toEqual(["requested"])
      expect(await actions({ action: "requested" })).toEqual(["requested", "requested"])
      expect(await actions({ start_time: start + 1_000 })).toEqual(["refused", "requested"])
      expect(await actions({ end_time: start + 1_000 })).toEqual(["requested", "dispatched", "refused"])
      expect(await actions({ start_time: start + 1_000, end_time: start + 1_000 })).toEqual(["refused"])
      expect(await actions({ action: "requested", session_id: "ses_alice" })).toEqual(["requested"])
      expect(await actions({ subagent: "nobody" })).toEqual([])
    })
  })
}

function flushContract(setup: Setup) {
  describe("flushAudit", () => {
    test("hands over every line once, in order, and then only what is new", async () => {
      await using scene = await createScene(setup)
      const got: AuditLine[] = []
      const flush = () => scene.store.flushAudit(["ses_alice"], (lines) => void got.push(...lines))
      await scene.running()
      await flush()
      expect(got).toEqual(await scene.lines())
      await flush()
      expect(got).toHaveLength(2)
      await scene.running()
      await flush()
      expect(got).toEqual(await scene.lines())
      expect(seqs(got)).toEqual([1, 2, 3, 4])
    })

    test("a session hears nothing of the others", async () => {
      await using scene = await createScene(setup)
      await scene.opened({ session_id: "ses_a" })
      await scene.running({ session_id: "ses_b" })
      const got: AuditLine[] = []
      await scene.store.flushAudit(["ses_a"], (lines) => void got.push(...lines))
      await scene.store.flushAudit(["ses_b"], (lines) => void got.push(...lines))
      expect(got.map(({ session_id, seq }) => `${session_id} ${seq}`)).toEqual(["ses_a 1", "ses_b 1", "ses_b 2"])
    })

    test("with nothing new, nothing is appended", async () => {
      await using scene = await createScene(setup)
      const calls: number[] = []
      await scene.store.flushAudit(["ses_alice"], (lines) => void calls.push(lines.length))
      expect(calls).toEqual([])
    })

    test("sessions with lines that are in no file yet are found again", async () => {
      await using scene = await createScene(setup)
      await scene.running({ session_id: "ses_a" })
      await scene.opened({ session_id: "ses_b" })
      const unwritten = async () => (await scene.store.unwritten("/project")).toSorted()
      expect(await unwritten()).toEqual(["ses_a", "ses_b"])
      expect(await scene.store.unwritten("/elsewhere")).toEqual([])
      await scene.store.flushAudit(["ses_a"], () => {})
      expect(await unwritten()).toEqual(["ses_b"])
      await scene.opened({ session_id: "ses_a" })
      expect(await unwritten()).toEqual(["ses_a", "ses_b"])
    })

    test("lines that could not be appended come again", async () => {
      await using scene = await createScene(setup)
      await scene.running()
      const full = new Error("no space left on device")
      const failing = scene.store.flushAudit(["ses_alice"], () => {
        throw full
      })
      await expect(failing).rejects.toBe(full)
      await scene.opened()
      const got: AuditLine[] = []
      await scene.store.flushAudit(["ses_alice"], (lines) => void got.push(...lines))
      expect(got).toEqual(await scene.lines())
    })

    test("many that flush at once hand over each line once", async () => {
      await using scene = await createScene(setup)
      const got: AuditLine[] = []
      await Promise.all(
        Array.from({ length: many }, async () => {
          await scene.opened()
          await scene.store.flushAudit(["ses_alice"], (lines) => void got.push(...lines))
        }),
      )
      expect(got).toEqual(await scene.lines())
    })
  })
}

export function auditContract(setup: Setup) {
  chainContract(setup)
  queryContract(setup)
  flushContract(setup)
}
