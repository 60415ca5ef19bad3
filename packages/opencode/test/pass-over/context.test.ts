import { describe, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { contextText } from "../../src/pass-over/domain/brief"
import { byteLength } from "../../src/pass-over/domain/bytes"
import type { ContextFile, ContextMessage, Todo } from "../../src/pass-over/domain/context"
import { describeManifest } from "../../src/pass-over/domain/manifest"
import { asksForChanges, mentioned, writtenFiles } from "../../src/pass-over/domain/mention"
import { openErrors } from "../../src/pass-over/domain/open-error"
import { SHIPPED, SYSTEM, type Effective } from "../../src/pass-over/domain/preference"
import { DIGEST_ID } from "../../src/pass-over/domain/select/choose"
import { budgetFor, CONTEXT_TOKENS, gather, type GatherDeps } from "../../src/pass-over/service/context"
import type { Wanted } from "../../src/pass-over/service/context-find"
import type { Host } from "../../src/pass-over/service/port-host"
import { message, NOW, part } from "./sample"

const PREFERENCE = { ...SYSTEM, ...SHIPPED } as Effective
const count = (text: string) => Math.ceil(byteLength(text) / 4)

type Scene = Partial<Host> & { history?: ContextMessage[]; disk?: ContextFile[]; list?: Todo[] }

function scene({ history = [], disk = [], list = [], ...more }: Scene = {}) {
  const seen = { loaded: 0, asked: [] as string[], nearby: 0 }
  const host = {
    messages: async () => history,
    todos: async () => list,
    files: async (paths: readonly string[]) => {
      seen.asked.push(...paths)
      return paths.map((path) => disk.find((file) => file.path === path) ?? { path })
    },
    ...more,
  } as unknown as Host
  const deps: GatherDeps = {
    host,
    tokens: async () => {
      seen.loaded += 1
      return count
    },
    hash: (text) => createHash("sha256").update(text).digest("hex"),
  }
  const run = (wanted: Partial<Wanted> = {}, preference: Partial<Effective> = {}) =>
    gather(
      deps,
      { session_id: "ses_1", directory: "/project", objective: "Review it", files: [], now: NOW, ...wanted },
      { ...PREFERENCE, ...preference },
    )
  return { run, seen, deps }
}

const text = (id: string, size: number, more: Partial<ContextMessage> = {}) =>
  message({ id, parts: [part({ text: `${id} ${"word ".repeat(size / 5)}` })], ...more })

const file = (path: string, content: string): ContextFile => ({
  path,
  content,
  metadata: { size_bytes: byteLength(content), last_modified: 1, is_binary: false },
})

describe("what fits", () => {
  test("goes along whole, without the tokenizer, in its order", async () => {
    const history = [text("m1", 500), text("m2", 500, { timestamp: 0 }), text("m3", 500)]
    const { run, seen } = scene({ history, list: [{ content: "test it", status: "pending" }] })
    const { context, manifest } = await run()
    expect(context.messages).toEqual(history)
    expect(seen.loaded).toBe(0)
    expect(manifest.exact).toBe(false)
    expect(manifest.items.map(({ kind, ref, taken }) => `${kind} ${ref} ${taken}`)).toEqual([
      "message m1 whole",
      "message m2 whole",
      "message m3 whole",
      "todo 1 whole",
    ])
  })

  test("is not dropped by count or age, unless the user sets that (decision 22)", async () => {
    const history = Array.from({ length: 60 }, (_, at) => text(`m${at}`, 10, { timestamp: NOW - (60 - at) * 60_000 }))
    const { run } = scene({ history })
    expect((await run()).context.messages).toHaveLength(60)
    const bound = await run({}, { max_messages: 5 })
    expect(bound.context.messages).toHaveLength(5)
    expect(bound.manifest.items).toHaveLength(60)
    expect(bound.manifest.items[0]?.why).toBe("beyond max_messages or lookback_minutes")
    expect((await run({}, { lookback_minutes: 10 })).context.messages).toHaveLength(10)
  })
})

describe("what does not fit", () => {
  const history = Array.from({ length: 400 }, (_, at) => text(`m${at}`, 1_000, { timestamp: at }))

  test("is chosen by the objective and told in a digest; everything is accounted for", async () => {
    const { context, manifest } = await scene({ history }).run({ objective: "What about m7?" })
    expect(context.messages[0]?.id).toBe(DIGEST_ID)
    expect(context.messages.map(({ id }) => id)).toContain("m7")
    expect(count(contextText(context, manifest))).toBeLessThanOrEqual(manifest.max_tokens)
    expect(manifest.items.filter(({ kind }) => kind === "message").map(({ ref }) => ref)).toEqual(
      history.map(({ id }) => id),
    )
    expect(manifest.items.filter(({ taken }) => taken !== "none").every(({ sha256 }) => sha256)).toBe(true)
  })

  test("is told in a digest also where the bytes are what there is too little of", async () => {
    for (const max_context_size_bytes of [30_000, 50_000, 100_000]) {
      const { context, manifest } = await scene({ history }).run({}, { max_context_size_bytes })
      expect(context.messages[0]?.id).toBe(DIGEST_ID)
      expect(byteLength(contextText(context, manifest))).toBeLessThanOrEqual(max_context_size_bytes)
    }
  })

  test("is not even a name where names alone are too much, and the account has all of them", async () => {
    const files = Array.from({ length: 300 }, (_, at) => `${"deep/".repeat(170)}${at}.ts`)
    const { context, manifest } = await scene().run({ files })
    expect(count(contextText(context, manifest))).toBeLessThanOrEqual(manifest.max_tokens)
    expect(context.files.length).toBeGreaterThan(50)
    expect(context.files.length).toBeLessThan(files.length)
    expect(manifest.items.map(({ ref }) => ref)).toEqual(files)
    expect(manifest.items.at(-1)).toMatchObject({ taken: "none", why: expect.stringContaining("not even named") })
  })

  test("leaves todos their tenth of the room where errors have used up theirs", async () => {
    const failed = Array.from({ length: 10 }, (_, at) =>
      message({
        id: `e${at}`,
        parts: [
          part({
            type: "tool",
            tool_name: "fetch",
            tool_input: { url: `${at}` },
            tool_status: "error",
            tool_error: "word ".repeat(80),
          }),
        ],
      }),
    )
    const list = Array.from({ length: 40 }, (_, at) => ({ content: `${at} ${"do it ".repeat(20)}`, status: "pending" }))
    const { context } = await scene({ history: [...failed, ...history], list }).run(
      {},
      { max_context_size_bytes: 60_000 },
    )
    expect(context.todos).toHaveLength(40)
  })

  test("is the older part where the user wants recency", async () => {
    const { context } = await scene({ history }).run({}, { context_selection: "recency" })
    expect(context.messages.at(-1)?.id).toBe("m399")
    expect(context.messages[0]?.id).not.toBe(DIGEST_ID)
    const ids = context.messages.map(({ id }) => id)
    expect(ids).toEqual(history.slice(-ids.length).map(({ id }) => id))
  })

  test("is told by the user's small model where the preference says so, and by rules where it fails", async () => {
    const prompts: string[] = []
    const told = scene({
      history,
      generate: async ({ prompt }) => {
        prompts.push(prompt)
        return "They spoke of words."
      },
    })
    const digest = (made: Awaited<ReturnType<typeof told.run>>) => made.context.messages[0]?.parts[0]?.text
    expect(digest(await told.run())).toStartWith("Left out here")
    expect(prompts).toHaveLength(0)
    const made = await told.run({}, { context_digest: "model" })
    expect(digest(made)).toBe("What was left out, told by a model:\nThey spoke of words.")
    expect(made.manifest.items.find(({ kind }) => kind === "digest")?.why).toContain("told by a model")
    const broken = scene({ history, generate: () => Promise.reject(new Error("none")) })
    expect(digest(await broken.run({}, { context_digest: "model" }))).toStartWith("Left out here")
  })

  test("may be ranked by somebody who reads it", async () => {
    const { deps } = scene({ history })
    const wanted = { session_id: "ses_1", directory: "/p", objective: "x", files: [], now: NOW }
    const rank = async () => new Map([["m200", 1]])
    const { manifest } = await gather({ ...deps, rank }, wanted, PREFERENCE)
    expect(manifest.items.find(({ ref }) => ref === "m200")).toMatchObject({
      why: expect.stringContaining("ranked by a model"),
    })
  })
})

test("for a model that counts otherwise a margin is kept", () => {
  expect(budgetFor("openai/gpt-5")).toBe(CONTEXT_TOKENS)
  for (const model of ["anthropic/claude", "google/gemini", null, undefined]) expect(budgetFor(model)).toBe(40_000)
})

describe("files", () => {
  const disk = [file("src/a.ts", "a"), file("src/b.ts", "b"), file("src/c.ts", "c"), file(".env", "SECRET=1")]
  const edited = message({
    parts: [
      part({
        type: "tool",
        tool_name: "edit",
        tool_status: "completed",
        tool_input: { filePath: "/project/src/c.ts" },
      }),
    ],
  })

  test("go along by name, by mention and because they were written here, each with its reason", async () => {
    const { run } = scene({ disk, history: [edited] })
    const { manifest } = await run({ objective: "Compare with src/b.ts, e.g. the sums", files: ["src/a.ts"] })
    expect(
      manifest.items.filter(({ kind }) => kind === "file").map(({ ref, taken, why }) => `${ref} ${taken} ${why}`),
    ).toEqual([
      "src/a.ts whole named for this pass",
      "src/b.ts whole named in the objective",
      "src/c.ts whole written in this conversation",
    ])
  })

  test("that were changed, or are only named, are looked up; otherwise nothing is", async () => {
    const asked: unknown[] = []
    const nearby: Host["nearby"] = async (ask) => {
      asked.push(ask)
      return { named: ask.names.length > 0 ? ["src/b.ts"] : [], changed: ask.changed ? ["src/a.ts"] : [] }
    }
    const { run, seen } = scene({ disk, nearby })
    await run({ objective: "Find the bug" })
    expect(asked).toEqual([])
    await run({ objective: "Review my changes to b.ts" })
    expect(asked).toEqual([{ names: ["b.ts"], changed: true }])
    expect(seen.asked).toEqual(["src/b.ts", "src/a.ts"])
  })

  test("that may hold secrets never go along, and what was only spoken of and is no file is not listed", async () => {
    const { manifest, context } = await scene({ disk }).run({ objective: "As in src/nothing.ts", files: [".env"] })
    expect(manifest.items).toMatchObject([{ ref: ".env", taken: "none", why: expect.stringContaining("secrets") }])
    expect(JSON.stringify(context)).not.toContain("SECRET=1")
  })

  test("that are large go along in part, and by name where there is no room", async () => {
    const big = Array.from({ length: 40 }, (_, at) =>
      file(`src/big-${at}.ts`, `start ${at}\n${"line of code\n".repeat(2_000)}end ${at}`),
    )
    const { run } = scene({ disk: big, history: [text("m1", 1_000)] })
    const { manifest, context } = await run({ files: big.map(({ path }) => path) })
    const how = Object.groupBy(
      manifest.items.filter(({ kind }) => kind === "file"),
      ({ taken }) => taken,
    )
    expect(how.whole?.length).toBeGreaterThan(2)
    expect(how.part?.length).toBeGreaterThan(0)
    expect(how.none?.length).toBeGreaterThan(10)
    expect(context.messages.map(({ id }) => id)).toContain("m1")
    expect(count(contextText(context, manifest))).toBeLessThanOrEqual(manifest.max_tokens)
    const cut = context.files.find(({ path }) => path === how.part?.[0]?.ref)
    expect(cut?.content).toStartWith("start")
    expect(cut?.content).toMatch(/end \d+$/)
  })
})

describe("what a setting withholds", () => {
  const history = [text("m1", 500), text("m2", 500)]
  const disk = [file("src/a.ts", "const secret = 1"), file("src/b.ts", "b")]
  const wanted = { objective: "Review src/b.ts", files: ["src/a.ts", "/project/src/a.ts", "src/new.ts"] }

  test("of files is their contents: those that the call names are named, and nothing is read", async () => {
    const { run, seen } = scene({ history, disk })
    const { context, manifest } = await run(wanted, { pass_files: false })
    expect(seen.asked).toEqual([])
    expect(context.files).toEqual([{ path: "src/a.ts" }, { path: "src/new.ts" }])
    expect(manifest.items.filter(({ kind }) => kind === "file")).toEqual(
      ["src/a.ts", "src/new.ts"].map((ref) => ({
        kind: "file",
        ref,
        taken: "none",
        why: "withheld: pass_files is off",
        bytes: 0,
        tokens: 0,
        withheld_by: "pass_files",
      })),
    )
    expect(contextText(context, manifest)).toContain("; withheld: the contents of 2 files (pass_files).")
    expect(contextText(context, manifest)).toContain("### src/new.ts\n(not included; read it if you need it)")
  })

  test("of a conversation is all of it, in one line, and nothing is asked for", async () => {
    const nobody = () => Promise.reject(new Error("not asked for"))
    const { run } = scene({ disk, messages: nobody, todos: nobody })
    const { context, manifest } = await run(wanted, { pass_context: false })
    expect(context).toMatchObject({ messages: [], todos: [], files: [{}, {}, {}] })
    expect(manifest.items.filter(({ withheld_by }) => withheld_by === "pass_context")).toMatchObject([
      { kind: "message", ref: "the conversation with its todos and errors", taken: "none" },
    ])
    expect(describeManifest(manifest)).toMatch(
      /^2 files \(1 left out\), .* tokens; withheld: the conversation \(pass_context\)$/,
    )
  })

  test("is nothing where both are on", async () => {
    const { manifest } = await scene({ history, disk }).run(wanted)
    expect(manifest.items.some(({ withheld_by }) => withheld_by)).toBe(false)
    expect(describeManifest(manifest)).not.toContain("withheld")
  })
})

describe("what a caller has of its own", () => {
  const disk = [file("src/a.ts", "on the disk")]
  const ran = {
    tool_name: "bash",
    call_id: "call_1",
    status: "error" as const,
    input: { command: "make" },
    timestamp: 1,
  }
  const known = message({
    id: "m1",
    parts: [part({ type: "tool", tool_name: "bash", call_id: "call_1", tool_status: "error", tool_input: ran.input })],
  })
  const given = {
    files: [{ path: "/project/src/a.ts", content: "as given" }],
    messages: [known, text("m2", 100)],
    tool_results: [ran, { ...ran, call_id: "call_2", input: { command: "lint" }, error: "2 problems" }],
    errors: [{ type: "TypeError", message: "total is wrong" }],
  }

  test("takes the place of what is on the disk, and nothing goes along twice", async () => {
    const { run, seen } = scene({ disk, history: [known] })
    const { context, manifest } = await run({ given, files: ["src/a.ts"], objective: "Look at src/a.ts" })
    expect(seen.asked).toEqual([])
    expect(context.files).toMatchObject([{ path: "src/a.ts", content: "as given", given: true }])
    expect(manifest.items.map(({ kind, ref }) => `${kind} ${ref}`)).toEqual([
      "file src/a.ts",
      "message m1",
      "message m2",
      "tool_result call_2",
      "error 1",
      "error 2",
      "error 3",
    ])
    expect(context.errors?.map((one) => one.message)).toEqual(["failed", "2 problems", "total is wrong"])
  })

  test("is withheld where the settings say so", async () => {
    const { context, manifest } = await scene({ disk }).run({ given }, { pass_context: false, pass_files: false })
    expect(JSON.stringify(context)).not.toMatch(/as given|m2|total is wrong|problems/)
    expect(context.files).toEqual([{ path: "src/a.ts" }])
    expect(describeManifest(manifest)).toStartWith("nothing; withheld: the conversation (pass_context)")
  })
})

describe("what a text speaks of", () => {
  test("is paths and names with a suffix, and no addresses, versions or abbreviations", () => {
    const text =
      "See ./src/a.ts, `lib/b.test.tsx:12` and README.md. Not https://x.dev/c.ts, e.g. this, i.e. 1.2.3, me@x.org."
    expect(mentioned(text)).toEqual(["src/a.ts", "lib/b.test.tsx", "README.md"])
  })

  test("is a name in any script, and one with parts in brackets, as routes have them", () => {
    const text =
      "src/größe.ts, app/[id]/page.tsx, (app/(auth)/login.tsx) [x](docs/x.md) app/[...all]/page.tsx 请看src/b.ts文件 docs/日本語.md a+b/c.ts"
    expect(mentioned(text)).toEqual([
      "src/größe.ts",
      "app/[id]/page.tsx",
      "app/(auth)/login.tsx",
      "docs/x.md",
      "app/[...all]/page.tsx",
      "请看src/b.ts",
      "src/b.ts",
      "docs/日本語.md",
      "a+b/c.ts",
    ])
  })

  test("is bounded in time on a hostile text", () => {
    const hostile = ["a/", "a.", "-", "[a]", "(a)", "(a)/", "[[a]", "[a", "é"].map((one) => one.repeat(500_000))
    for (const text of [...hostile, "[a]".repeat(99).padEnd(300, " ").repeat(60)]) {
      const began = performance.now()
      mentioned(text)
      expect(performance.now() - began).toBeLessThan(500)
    }
  })

  test("is changes only where it says so", () => {
    expect(["review my changes", "look at the diff", "what is staged?"].every(asksForChanges)).toBe(true)
    expect(["change the colour", "fix the bug in a.ts"].some(asksForChanges)).toBe(false)
  })
})

test("nothing that is cut leaves half a sign behind, which no provider takes", async () => {
  const emoji = "🙂".repeat(2_000)
  const failed = (begin: string) =>
    message({
      id: `e${begin}`,
      parts: [
        part({
          type: "tool",
          tool_name: "fetch",
          tool_input: { url: begin + emoji },
          tool_status: "error",
          tool_error: begin + emoji,
        }),
      ],
    })
  const talk = Array.from({ length: 300 }, (_, at) => text(`${at % 2 ? "x" : ""}${emoji.slice(0, 80)}${at}`, 1_000))
  const { context, manifest } = await scene({ history: [failed(""), failed("x"), ...talk] }).run()
  expect(context.errors).toHaveLength(2)
  expect(context.messages[0]?.id).toBe(DIGEST_ID)
  expect(contextText(context, manifest).isWellFormed()).toBe(true)
})

test("another call that succeeds leaves an error open, and the same file tried otherwise closes it", () => {
  const one = (tool_name: string, tool_input: Record<string, unknown>, failed: boolean) =>
    message({
      parts: [part({ type: "tool", tool_name, tool_input, tool_status: failed ? "error" : "completed" })],
    })
  const open = (name: string, first: object, second: object) =>
    openErrors([one(name, { ...first }, true), one(name, { ...second }, false)]).length
  const long = "x".repeat(300)
  expect(open("linear_create", { title: "a" }, { title: "b" })).toBe(1)
  expect(open("grep", { path: "src", pattern: "a" }, { path: "src", pattern: "b" })).toBe(1)
  expect(open("bash", { command: `${long} a` }, { command: `${long} b` })).toBe(1)
  const patch = (path: string, word: string) => ({
    patchText: `*** Begin Patch\n*** Update File: ${path}\n@@\n-${word}\n+b\n*** End Patch`,
  })
  expect(open("apply_patch", patch("a.ts", "x"), patch("b.ts", "x"))).toBe(1)
  expect(open("apply_patch", patch("a.ts", "x"), patch("a.ts", "y"))).toBe(0)
  expect(open("edit", { filePath: "a.ts", oldString: "x" }, { filePath: "a.ts", oldString: "y" })).toBe(0)
  expect(open("linear_create", { title: "a" }, { title: "a" })).toBe(0)
})

test("errors are open until the same call succeeds", () => {
  const tool = (command: string, tool_status: "error" | "completed", tool_error?: string) =>
    message({
      parts: [
        part({
          type: "tool",
          tool_name: "bash",
          tool_status,
          tool_input: { command },
          ...(tool_error ? { tool_error } : {}),
        }),
      ],
    })
  const messages = [tool("build", "error", "exit 1"), tool("test", "error", "exit 2"), tool("build", "completed")]
  expect(openErrors(messages)).toEqual([{ type: "bash", message: "exit 2", context: "bash test" }])
  expect(writtenFiles(messages)).toEqual([])
})

describe("a command that ended badly", () => {
  // As the host stores it: the call went well, and how the command ended stands beside it.
  const ran = (command: string, exit: number | null, tool_output = "") =>
    message({
      parts: [
        part({
          type: "tool",
          tool_name: "bash",
          tool_status: "completed",
          tool_input: { command },
          tool_output,
          metadata: { output: tool_output, exit, truncated: false },
        }),
      ],
    })
  const open = (...messages: ContextMessage[]) => openErrors(messages).map(({ context }) => context)

  test("is an open error with the end of what it said, until the same call ends well", () => {
    const output = `${"a line of the build\n".repeat(100)}src/a.ts(3,1): error TS2304\n`
    const failed = ran("tsc  -p .", 2, output)
    const [error] = openErrors([failed])
    expect(error).toMatchObject({ type: "bash", context: "bash tsc -p ." })
    expect(error?.message).toStartWith("exit code 2: …")
    expect(error?.message).toEndWith("src/a.ts(3,1): error TS2304")
    expect(error!.message.length).toBeLessThan(430)
    expect(open(failed, ran("tsc -p . 2>&1", 0))).toEqual([])
    expect(open(ran("tsc -p .", 0), failed)).toEqual(["bash tsc -p ."])
    expect(open(failed, ran("bun test", 0))).toEqual(["bash tsc -p ."])
  })

  test("is none where exit code 1 is an answer", () => {
    const answers = [
      "grep -q a src/a.ts",
      "cd src && rg 'a; b' .",
      "git diff --exit-code",
      "test -f a.ts",
      "npm test | grep FAIL",
      "LC_ALL=C diff a b; cmp a b",
      "command -v tsc",
    ]
    expect(open(...answers.map((command) => ran(command, 1)))).toEqual([])
    expect(open(ran("test -d src && ls src", 1, "(no output)"))).toEqual([])
    const failures = ["npm test", "grep a b && npm test", "echo grep; bun test", "sh check.sh"]
    expect(open(...failures.map((command) => ran(command, 1, "1 failed"))).length).toBe(failures.length)
    expect(open(ran("grep -q a src/none.ts", 2, "No such file"))).toEqual(["bash grep -q a src/none.ts"])
  })

  test("is one that took too long, and one of which nothing is known changes nothing", () => {
    const late = "(no output)\n<shell_metadata>\nshell tool terminated command after exceeding timeout 500 ms."
    expect(open(ran("bun test", null, late))).toEqual(["bash bun test"])
    expect(open(ran("bun test", 1, "1 fail"), ran("bun test", null, "stopped by the user"))).toEqual(["bash bun test"])
    expect(open(ran("bun test", null, "stopped by the user"))).toEqual([])
  })

  test("is left behind after fifty other calls, and no more than the last five are kept", () => {
    const fine = (count: number) => Array.from({ length: count }, (_, at) => ran(`cat ${at}`, 0))
    expect(open(ran("make", 2), ...fine(49))).toEqual(["bash make"])
    expect(open(ran("make", 2), ...fine(50))).toEqual([])
    const many = Array.from({ length: 9 }, (_, at) => ran(`make ${at}`, 2))
    expect(open(...many)).toEqual([4, 5, 6, 7, 8].map((at) => `bash make ${at}`))
  })

  test("is cut after its secrets are taken out, and not before", async () => {
    const secret = `ghp_${"a1B2".repeat(9)}`
    const history = [ran("make", 2, `token ${secret}${" x".repeat(190)}`)]
    const { context, manifest } = await scene({ history }).run()
    expect(context.errors?.[0]?.message).toContain("exit code 2")
    expect(JSON.stringify(context.errors)).not.toContain("a1B2")
    expect(manifest.items.find(({ kind }) => kind === "error")?.taken).toBe("whole")
  })
})
