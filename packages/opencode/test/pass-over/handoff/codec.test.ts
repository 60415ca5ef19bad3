import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import { WorkOutput } from "../../../src/pass-over/domain/output"
import { fromEnvelope, toEnvelope } from "../../../src/pass-over/handoff/codec-envelope"
import { fromPackage, toPackage } from "../../../src/pass-over/handoff/codec-package"
import { findingsProblem, fromPhase, toPhase } from "../../../src/pass-over/handoff/codec-phase"
import { Envelope } from "../../../src/pass-over/handoff/envelope"
import { carry, noteOf, StepNote } from "../../../src/pass-over/handoff/note"
import { HandoffPackage } from "../../../src/pass-over/handoff/package"
import { PhaseResponse } from "../../../src/pass-over/handoff/phase"
import { unsummarised } from "../../../src/pass-over/handoff/text"
import { output as sample } from "../sample"
import { envelope, gone, handoffPackage, identity, output, response, SEED } from "./generated"

const count = (text: string) => Math.ceil(text.length / 4)

const META = { step_id: "build", flow_key: "feature", agent_key: "audit", timestamp: "2026-01-01T00:00:00.000Z" }

/** What is gone must be named; a name may be the whole of which a part is gone. */
const unnamed = (names: readonly string[], lost: readonly string[]) =>
  names.filter(
    (name) => !name.split("|").some((each) => lost.some((whole) => each === whole || each.startsWith(`${whole}.`))),
  )

describe("an envelope and a WorkOutput", () => {
  test("an envelope survives the way through an output", () => {
    fc.assert(
      fc.property(envelope, (view) => {
        expect(Envelope.parse(view)).toEqual(view)
        const { output: held, lost } = fromEnvelope(view, identity)
        expect(WorkOutput.safeParse(held).success).toBe(true)
        expect(lost).toEqual(["meta"])
        expect(toEnvelope(held, view.meta, view.status).view).toEqual(view)
      }),
      SEED,
    )
  })

  test("what an output loses on the way through an envelope is named", () => {
    fc.assert(
      fc.property(output, (before) => {
        expect(WorkOutput.safeParse(before).success).toBe(true)
        const { view, lost } = toEnvelope(before, META, "UNVERIFIED")
        expect(Envelope.safeParse(view).success).toBe(true)
        expect(unnamed(gone(before, fromEnvelope(view, identity).output), lost)).toEqual([])
      }),
      SEED,
    )
  })
})

describe("a phase's response and a WorkOutput", () => {
  test("a response survives the way through an output", () => {
    fc.assert(
      fc.property(response, (view) => {
        expect(PhaseResponse.parse(view)).toEqual(view)
        const { output: held, lost } = fromPhase(view, identity)
        expect(WorkOutput.safeParse(held).success).toBe(true)
        expect(lost).toEqual(["task_id", "phase"])
        expect(toPhase(held, { task_id: view.task_id, phase: view.phase, count }).view).toEqual(view)
      }),
      SEED,
    )
  })

  test("what an output loses on the way through a response is named", () => {
    fc.assert(
      fc.property(output, fc.constantFrom("research" as const, "write", "validate", "parallel"), (before, phase) => {
        const { view, lost } = toPhase(before, { task_id: "t-1", phase, count })
        expect(PhaseResponse.safeParse(view).success).toBe(true)
        expect(unnamed(gone(before, fromPhase(view, identity).output), lost)).toEqual([])
      }),
      SEED,
    )
  })

  test("findings in another form than the phase's are derived, and said to be wrong", () => {
    const [note] = carry({ findings: { nonsense: true }, context_summary: "three routes, one of them untested" })
    const base = fromPhase(
      PhaseResponse.parse({
        task_id: "t",
        phase: "write",
        status: "complete",
        decision: "PROCEED",
        findings: { files_created: [], files_modified: [], tests_written: [], implementation_notes: [] },
        context_summary: "x",
      }),
      identity,
    ).output
    const held = { ...base, artifacts: [note!] }
    expect(toPhase(held, { task_id: "t", phase: "write", count }).view.findings).toMatchObject({ files_created: [] })
    expect(findingsProblem(held, "write")).toContain("findings.files_created")
    expect(findingsProblem(base, "write")).toBeUndefined()
  })
})

describe("a package and a WorkOutput", () => {
  test("a package's context survives the way through an output, and the rest is named", () => {
    fc.assert(
      fc.property(handoffPackage, (view) => {
        expect(HandoffPackage.parse(view)).toEqual(view)
        const { output: held, lost } = fromPackage(view, identity)
        expect(WorkOutput.safeParse(held).success).toBe(true)
        expect(lost).toEqual(["id", "timestamp", "from", "to"])
        const { context: _context, ...frame } = view.handoff
        expect(toPackage(held, frame).view).toEqual(view)
      }),
      SEED,
    )
  })

  test("what an output loses on the way through a package is named", () => {
    const frame = {
      id: "HO-001",
      timestamp: META.timestamp,
      from: { agent: "audit", step: 1 },
      to: { agent: "alice", reason: "review completed" },
    }
    fc.assert(
      fc.property(output, (before) => {
        const { view, lost } = toPackage(before, frame)
        expect(HandoffPackage.safeParse(view).success).toBe(true)
        expect(unnamed(gone(before, fromPackage(view, identity).output), lost)).toEqual([])
      }),
      SEED,
    )
  })
})

describe("a note", () => {
  test("is read from a code block too, and the last one counts", () => {
    const message = (content: string) => ({
      type: "message" as const,
      role: "assistant" as const,
      content,
      visibility: "user_visible" as const,
    })
    const artifacts = [
      message('{"handoff":{"decision":"STOP"}}'),
      message('```json\n{"handoff":{"decision":"PROCEED"}}\n```'),
    ]
    expect(noteOf({ artifacts }).note.decision).toBe("PROCEED")
  })

  test("is looked for in no time, whatever a child has put into its messages and files", () => {
    const empty = "\n".repeat(200_000)
    const message = { type: "message", role: "assistant", visibility: "user_visible" } as const
    const file = {
      type: "file_modification",
      path: "a.test.ts",
      old_content: "",
      reason: "",
      confidence: "high",
    } as const
    const before = performance.now()
    expect(noteOf({ artifacts: [{ ...message, content: `\`\`\`${empty.slice(0, 4_000)}x` }] })).toEqual({ note: {} })
    const written = { ...sample(), artifacts: [{ ...file, new_content: `${empty}  test("one")\n\tit("two")\nunit()` }] }
    const { view } = toPhase(written, { task_id: "t-1", phase: "write", count })
    expect(JSON.stringify(view)).toContain('"test_count":2')
    expect(unsummarised("[1 line".repeat(40_000))).toBeUndefined()
    expect(performance.now() - before).toBeLessThan(1_000)
  })

  test("that is not in its form is a problem and not silence", () => {
    const artifacts = [
      {
        type: "message" as const,
        role: "internal" as const,
        content: '{"handoff":{"decision":"MAYBE"}}',
        visibility: "originator_only" as const,
      },
    ]
    expect(noteOf({ artifacts }).problem).toContain("decision")
    expect(noteOf({ artifacts: [] })).toEqual({ note: {} })
  })

  test("says nothing about an output that has none", () => {
    expect(carry({})).toEqual([])
    expect(StepNote.safeParse({ surprise: 1 }).success).toBe(false)
  })
})
