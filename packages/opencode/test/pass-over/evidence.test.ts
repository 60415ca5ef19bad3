import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import type { ContextMessage, MessagePart } from "../../src/pass-over/domain/context"
import { describeEvidence, judge, type Claims, type Witness } from "../../src/pass-over/domain/evidence"
import type { Evidence } from "../../src/pass-over/domain/evidence-schema"
import { mergeFindings } from "../../src/pass-over/domain/finding"

const PROJECT = "/project"
const TREE = "/data/tree-1"

let serial = 0
const did = (tool_name: string, tool_input: Record<string, unknown>, more: Partial<MessagePart> = {}): MessagePart => ({
  id: `prt_${++serial}`,
  type: "tool",
  tool_name,
  call_id: `call_${serial}`,
  tool_status: "completed",
  tool_input,
  tool_output: "",
  ...more,
})

const says = (...parts: MessagePart[]): ContextMessage[] => [
  { id: "msg_1", role: "assistant", agent_name: "audit", timestamp: 1, parts },
]

/** As opencode's read answers: numbered lines between two marks. */
const read = (path: string, total: number, from = 1, count = total) =>
  did(
    "read",
    { filePath: path, offset: from, limit: count },
    {
      tool_output: [
        `<path>${path}</path>`,
        "<type>file</type>",
        "<content>",
        ...Array.from({ length: Math.min(count, total - from + 1) }, (_, index) => `${from + index}: 99: text`),
        "</content>",
      ].join("\n"),
    },
  )

const bash = (command: string, exit: number, output = "") =>
  did("bash", { command }, { tool_output: output, metadata: { exit } })

const claims = (more: Partial<Claims> = {}): Claims => ({
  evidence: [],
  status: "completed",
  decision: "approved",
  decision_reason: undefined,
  recommendations: [],
  said: [],
  expected: "mixed",
  ...more,
})

const witness = (...parts: MessagePart[]): Witness => ({
  messages: says(...parts),
  roots: [TREE, PROJECT],
  changed: [],
})

const finding = (path: string, line?: number) => ({
  type: "finding" as const,
  severity: "error" as const,
  category: "logic_error",
  message: "wrong",
  location: { path, ...(line ? { line } : {}) },
})

const file = (path: string, line?: number): Evidence => ({ type: "file", path, ...(line ? { line } : {}) })
const command = (text: string, exit_code = 0): Evidence => ({ type: "command", command: text, exit_code })

describe("a verdict", () => {
  test("is VERIFIED where everything that is pointed to was done", () => {
    const work = witness(
      read(`${PROJECT}/src/a.ts`, 20),
      bash("bun test", 1),
      did("webfetch", { url: "https://example.com/doc/" }),
    )
    const evidence: Evidence[] = [
      file("src/a.ts", 7),
      file(`${TREE}/src/a.ts`, 20),
      command(" bun  test ", 1),
      { type: "tool", tool: "read" },
      { type: "url", url: "https://example.com/doc#part" },
    ]
    expect(judge(claims({ evidence, said: [finding("src/a.ts", 3)] }), work)).toEqual({
      status: "VERIFIED",
      checked: 6,
      unresolved: [],
    })
  })

  test.each<[string, Evidence, string]>([
    ["a file that was never read", file("src/other.ts"), "never read"],
    ["a line that does not exist", file("src/a.ts", 21), "no such line"],
    ["a file outside", file("/etc/passwd"), "outside"],
    ["a way out", file("../a.ts"), "outside"],
    ["a last line before its first", { type: "file", path: "src/a.ts", line: 5, end_line: 2 }, "last line"],
    ["another hash", { type: "file", path: "src/a.ts", hash: "0000000" }, "hash"],
    ["a call that was not made", { type: "tool", call_id: "call_x" }, "no such call"],
    ["a call that failed", { type: "tool", tool: "grep" }, "failed"],
    ["a call without a name", { type: "tool" }, "names no call"],
    ["a command that was not run", command("bun run lint"), "never run"],
    ["another exit code", command("bun test", 0), "exit code 1"],
    ["a part of a chain that failed", command("cd src", 0), "never run"],
    ["an address that was not fetched", { type: "url", url: "https://example.com/other" }, "never fetched"],
    ["an artifact that did not come", { type: "artifact", ref: "src/b.ts" }, "no such artifact"],
  ])("is UNVERIFIED for %s", (_name, lie, why) => {
    const work = witness(
      read("src/a.ts", 20),
      bash("bun test", 1),
      bash("cd src && bun lint", 1),
      did("grep", { pattern: "x" }, { tool_status: "error", tool_error: "no" }),
      did("webfetch", { url: "https://example.com/doc" }),
    )
    const verdict = judge(claims({ evidence: [file("src/a.ts"), lie] }), work)
    expect(verdict).toMatchObject({ status: "UNVERIFIED", unresolved: [{ claim: describeEvidence(lie) }] })
    expect(verdict.unresolved[0]?.why).toContain(why)
  })

  test("is UNVERIFIED where nothing was done, nothing is pointed to, or only its own words are", () => {
    const none = judge(claims({ evidence: [] }), { messages: [], roots: [PROJECT], changed: [] })
    expect(none).toMatchObject({ status: "UNVERIFIED", unresolved: [{ why: "not a single tool call was made" }] })
    expect(judge(claims(), witness(read("src/a.ts", 3))).status).toBe("UNVERIFIED")
    const said = [{ type: "decision" as const, id: "d1", question: "Safe?", answer: "yes" as const, reasoning: "so" }]
    const own = judge(claims({ said, evidence: [{ type: "artifact", ref: "d1" }] }), witness(read("src/a.ts", 3)))
    expect(own).toMatchObject({ status: "UNVERIFIED", unresolved: [{ why: "it points to nothing that it did" }] })
  })

  test("counts the return itself as no work", () => {
    const work = witness(did("pass_over_return", { status: "completed" }))
    expect(judge(claims({ evidence: [{ type: "tool", tool: "pass_over_return" }] }), work).status).toBe("UNVERIFIED")
  })

  test("is BLOCKED where the work could not go on, whatever was proven", () => {
    const work = witness(read("src/a.ts", 3))
    expect(judge(claims({ decision: "blocked", evidence: [file("src/a.ts")] }), work).status).toBe("BLOCKED")
    expect(judge(claims({ status: "failed", evidence: [file("src/a.ts")] }), work).status).toBe("BLOCKED")
    expect(judge(claims({ status: "partial", evidence: [file("src/a.ts")] }), work).status).toBe("UNVERIFIED")
  })

  test("wants what was asked for, and places of findings that were seen", () => {
    const work = witness(read("src/a.ts", 3))
    const ask = (more: Partial<Claims>) => judge(claims({ evidence: [file("src/a.ts")], ...more }), work)
    expect(ask({ expected: "decision", decision: undefined }).unresolved).toEqual([
      { claim: "expected: decision", why: "no decision came back" },
    ])
    expect(ask({ expected: "decision" }).status).toBe("VERIFIED")
    expect(ask({ expected: "artifacts" }).status).toBe("UNVERIFIED")
    expect(ask({ expected: "report" }).status).toBe("UNVERIFIED")
    expect(ask({ expected: "report", decision_reason: "nothing to find" }).status).toBe("VERIFIED")
    expect(ask({ said: [finding("src/a.ts", 4)] }).unresolved).toEqual([
      { claim: "finding at src/a.ts:4", why: "no such line was seen" },
    ])
    expect(ask({ said: [finding("src/b.ts")] }).status).toBe("UNVERIFIED")
  })

  test("knows the other ways to see a file: a search, a shell, a writer, a change that was seen", () => {
    const grep = did("grep", { pattern: "x" }, { tool_output: `Found 2 matches\n${PROJECT}/src/g.ts:\n  Line 12: x\n` })
    const work = {
      ...witness(
        grep,
        bash("cat src/c.ts", 0, "one\ntwo\n"),
        bash("cd src && bun test", 0),
        did("write", { filePath: "src/w.ts", content: "1\n2\n3\n" }),
        did("edit", { filePath: "src/e.ts" }, { metadata: { diff: "@@ -10,3 +10,4 @@\n a\n-b\n+c\n+d\n e\n" } }),
      ),
      changed: ["src/seen.ts"],
    }
    const all = [
      file("src/g.ts", 12),
      file("src/c.ts", 2),
      file("src/w.ts", 3),
      file("src/e.ts", 13),
      file("src/seen.ts"),
      command("bun test"),
    ]
    expect(judge(claims({ evidence: all }), work)).toMatchObject({ status: "VERIFIED", unresolved: [] })
    const lies = [file("src/g.ts", 11), file("src/c.ts", 3), file("src/w.ts", 4), file("src/e.ts", 14)]
    expect(judge(claims({ evidence: lies }), work).unresolved).toHaveLength(4)
  })
})

const Name = fc.constantFrom("src/a.ts", "src/b.ts", "lib/c.ts", "README.md", "test/d.test.ts")
const Work = fc.record({
  files: fc.uniqueArray(
    fc.record({ path: Name, total: fc.integer({ min: 3, max: 90 }), from: fc.integer({ min: 1, max: 3 }) }),
    {
      minLength: 1,
      maxLength: 4,
      selector: ({ path }) => path,
    },
  ),
  commands: fc.uniqueArray(
    fc.record({
      command: fc.constantFrom("bun test", "bun run lint", "tsc --noEmit", "make", "git status"),
      exit: fc.nat(2),
    }),
    {
      maxLength: 3,
      selector: ({ command }) => command,
    },
  ),
  urls: fc.uniqueArray(fc.constantFrom("https://a.example/x", "https://b.example/y"), { maxLength: 2 }),
  truths: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 6 }),
  lies: fc.array(fc.nat(1_000), { maxLength: 3 }),
  root: fc.constantFrom("", `${PROJECT}/`, `${TREE}/`, "./"),
})

type Done = typeof Work extends fc.Arbitrary<infer T> ? T : never

// What each file had before and after the child's work.
const HASHES = new Map(
  ["src/a.ts", "src/b.ts", "lib/c.ts", "README.md", "test/d.test.ts"].map((path, index) => [
    path,
    [`${index + 1}a`.repeat(32), `${index + 1}b`.repeat(32)],
  ]),
)

const truth = ({ files, commands, urls, root }: Done, pick: number): Evidence => {
  const { path, total, from } = files[pick % files.length]!
  const run = commands[pick % (commands.length || 1)]
  const url = urls[pick % (urls.length || 1)]
  const line = from + (pick % (total - from + 1))
  const options: Evidence[] = [
    file(`${root}${path}`),
    file(`${root}${path}`, line),
    { type: "file", path: `${root}${path}`, hash: HASHES.get(path)![pick % 2]!.slice(0, 7 + (pick % 58)) },
    { type: "tool", tool: "read" },
    ...(run ? [command(run.command, run.exit)] : []),
    ...(url ? [{ type: "url" as const, url }] : []),
  ]
  return options[pick % options.length]!
}

const lie = ({ files, commands, root }: Done, pick: number): Evidence => {
  const { path, total } = files[pick % files.length]!
  const run = commands[pick % (commands.length || 1)]
  const options: Evidence[] = [
    file(`${root}src/never-${pick}.ts`),
    file(`${root}${path}`, total + 1 + pick),
    file(`/elsewhere/${path}`),
    command(`npm run invented-${pick}`),
    ...(run ? [command(run.command, run.exit + 1)] : []),
    { type: "tool", call_id: `call_invented_${pick}` },
    { type: "url", url: `https://invented.example/${pick}` },
    { type: "artifact", ref: `invented-${pick}` },
    { type: "file", path: `${root}${path}`, hash: "0".repeat(64) },
    // True of another file.
    { type: "file", path: `${root}src/a.ts`, hash: HASHES.get("lib/c.ts")![0]! },
  ]
  return options[pick % options.length]!
}

test("a hash holds where it was put out by the program that computes it, and by nothing else", () => {
  const [sum, other] = ["a1".repeat(32), "b2".repeat(32)]
  const work = witness(
    bash("sha256sum src/a.ts ./src/b.ts", 0, `${sum}  src/a.ts\n${sum}  ./src/b.ts\n`),
    bash(`echo '${other}  src/a.ts' # sha256sum`, 0, `${other}  src/a.ts\n`),
    bash(`sha256sum src/a.ts; echo '${other}  src/a.ts'`, 0, `${sum}  src/a.ts\n${other}  src/a.ts\n`),
    bash("sha256sum src/c.ts", 1, `${other}  src/a.ts\n`),
  )
  const claim = (hash: string, path = "src/a.ts") =>
    judge(claims({ evidence: [{ type: "file", path, hash }] }), work).status
  expect([claim(sum), claim(sum.slice(0, 7)), claim(sum, "src/b.ts")]).toEqual(["VERIFIED", "VERIFIED", "VERIFIED"])
  expect([claim(other), claim(sum, "src/c.ts")]).toEqual(["UNVERIFIED", "UNVERIFIED"])
})

test("what ends a line for a reader only, and not for who wrote it, shows nothing: no hunk, no line, no hash", () => {
  const ends = ["\u2028", "\u2029", "\r"]
  for (const end of ends) {
    const sum = "a1".repeat(32)
    const diff = `Index: a\n--- a\n+++ a\n@@ -1,2 +1,3 @@\n one\n-two\n+x${end}@@ -1 +1,9000000000000000 @@\n+three\n`
    const work = witness(
      did("edit", { filePath: "src/e.ts" }, { metadata: { diff } }),
      did("read", { filePath: "src/r.ts" }, { tool_output: `1: one${end}7: seven\n2: two` }),
      bash("sha256sum src/x", 0, `${"b2".repeat(32)}  src/x${end}${sum}  src/r.ts\n`),
    )
    const said = (evidence: Evidence) => judge(claims({ evidence: [evidence] }), work).status
    expect([1, 2, 3].map((line) => said(file("src/e.ts", line)))).toEqual(["VERIFIED", "VERIFIED", "VERIFIED"])
    expect(said(file("src/e.ts", 4))).toBe("UNVERIFIED")
    expect([said(file("src/r.ts", 2)), said(file("src/r.ts", 7))]).toEqual(["VERIFIED", "UNVERIFIED"])
    expect(said({ type: "file", path: "src/r.ts", hash: sum })).toBe("UNVERIFIED")
  }
})

test("a hunk is as long as the lines that stand in it, whatever its head says", () => {
  const diff = "@@ -1 +1,9000000000000000 @@\n+one\n\\ No newline at end of file\nIndex: b\n+++ b\n"
  const work = witness(did("edit", { filePath: "src/e.ts" }, { metadata: { diff } }))
  const said = (line: number) => judge(claims({ evidence: [file("src/e.ts", line)] }), work).status
  expect([said(1), said(2)]).toEqual(["VERIFIED", "UNVERIFIED"])
})

test("of 500 generated returns no false claim is VERIFIED, and no true one is refused", () => {
  const tally = { VERIFIED: 0, UNVERIFIED: 0, BLOCKED: 0 }
  fc.assert(
    fc.property(Work, (done) => {
      const parts = [
        ...done.files.map(({ path, total, from }) => read(`${PROJECT}/${path}`, total, from)),
        ...done.commands.map(({ command, exit }) => bash(command, exit)),
        ...done.urls.map((url) => did("webfetch", { url })),
      ]
      const lies = done.lies.map((pick) => lie(done, pick))
      const evidence = [...done.truths.map((pick) => truth(done, pick)), ...lies]
      const verdict = judge(claims({ evidence }), { ...witness(...parts), hashes: HASHES })
      expect(verdict.unresolved.map(({ claim }) => claim)).toEqual(lies.map(describeEvidence))
      expect(verdict.status).toBe(lies.length === 0 ? "VERIFIED" : "UNVERIFIED")
      tally[verdict.status] += 1
    }),
    { seed: 3, numRuns: 500 },
  )
  expect(tally.VERIFIED).toBeGreaterThan(50)
  expect(tally.UNVERIFIED).toBeGreaterThan(200)
})

test("findings that say the same of the same place are one, the worst first, and no fix is lost", () => {
  const at = { path: "a.ts", line: 1 }
  const one = {
    type: "finding" as const,
    severity: "info" as const,
    category: "style",
    message: "Sums the  wrong column.",
    location: at,
  }
  const merged = mergeFindings([
    one,
    { ...one, message: "elsewhere", severity: "warning" },
    { ...one, severity: "error", message: "sums the wrong column", suggested_fix: "+" },
    { ...one, location: { path: "b.ts" } },
  ])
  expect(merged).toEqual([
    { ...one, severity: "error", suggested_fix: "+" },
    { ...one, message: "elsewhere", severity: "warning" },
    { ...one, location: { path: "b.ts" } },
  ])
})
