import { expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { call, gate, hold, repeat, reply, say, type ModelRequest, type Tui } from "@pass-over/rehearsal"
import { storeOf } from "../support/opencode"
import { ask, command, heard, holdTerminal, terminal } from "../support/terminal"

setDefaultTimeout(180_000)

// What a child proposes is looked through, decided about by file and part, applied, and taken back; a child at work is
// spoken to, and ended: in the real terminal, by keys alone.
const lines = (change: (line: number) => string) =>
  `${Array.from({ length: 40 }, (_, index) => change(index + 1)).join("\n")}\n`
const before = {
  "src/long.ts": lines((line) => `const a${line} = ${line}`),
  "src/total.ts": "export const a = 1\n",
  "src/name.ts": "export const name = 'shop'\n",
}

const TINY = `name: tiny
steps:
  - id: look
    agent: audit
    objective: Look at src/total.ts and say what it does
  - id: accept
    gate: accept what was found
    items: [Does it name the file?]
    options: { approve: it goes on, reject: audit looks again, question: audit is asked }
`

const held = holdTerminal({
  files: {
    ...before,
    ".opencode/flows/tiny.yaml": TINY,
    "check.sh": "grep -q 'a = 2' src/total.ts && echo 'all well'\n",
    ".opencode/pass-over.json": JSON.stringify({ pairs: { "alice->audit": { verify_command: "sh check.sh" } } }),
  },
})

const handover = (objective: string) =>
  call("pass_over", { subagent: "audit", objective, reason: "before the release" })
const edit = (path: string, reason: string, ...edits: [string, string][]) => ({
  type: "file_modification",
  path,
  edits: edits.map(([old_string, new_string]) => ({ old_string, new_string })),
  reason,
})
const proposal = call("pass_over_return", {
  decision: "needs_modification",
  decision_reason: "Three files want changing.",
  artifacts: [
    edit("src/long.ts", "two ends", ["const a2 = 2\n", "const a2 = 22\n"], ["const a39 = 39\n", "const a39 = 3939\n"]),
    edit("src/total.ts", "one more", ["a = 1", "a = 2"]),
    edit("src/name.ts", "double quotes", ["'shop'", '"shop"']),
  ],
})

const now = (path: string) => readFileSync(join(held.box.project, path), "utf8")

const mine = () => Object.fromEntries(Object.keys(before).map((path) => [path, now(path)]))

async function toChanges(tui: Tui, pass: RegExp) {
  await command(tui, "/pass-over", "Passes of this project")
  await tui.waitFor(pass)
  await tui.send("Enter")
  await tui.waitFor("changes c")
  await tui.send("c")
  await tui.waitFor("Search a file")
}

/** Chooses the row of a list that the typed text leaves. */
async function choose(tui: Tui, typed: string, row: RegExp) {
  await tui.type(typed)
  await tui.waitFor(row)
  await tui.send("Enter")
}

test("a proposal is read, taken in part, applied with the user's check, and taken back", async () => {
  held.model.play({ agents: { alice: [handover("Change three files"), heard], audit: [proposal] } })
  await using tui = await terminal(held, { cols: 120, rows: 40 })
  await ask(tui, "Change it")
  await tui.waitFor(/Heard: .*3 files proposed/)
  await toChanges(tui, /alice → audit Change three files/)
  const list = await tui.waitFor("3 files, proposed in its return")
  expect(list).toMatch(/src\/long\.ts two ends\s+○ not decided/)
  // Nothing is accepted, so there is nothing to apply and nothing to send back.
  expect(list).not.toContain("Apply")
  expect(list).not.toContain("Send back")

  // A file of two parts: one is taken, the other declined with a word.
  await choose(tui, "long", /^(?![^]*src\/total\.ts)/)
  const file = await tui.waitFor(/▸ the whole file, 2 parts · ○ not decided[^]*a39 = 3939/)
  expect(file).toContain("- const a2 = 2\n")
  expect(file).toContain("+ const a39 = 3939\n")
  await tui.send("j")
  await tui.send("j")
  await tui.waitFor("▸ part 2 of 2 · ○ not decided")
  await tui.send("a")
  await tui.waitFor("▸ part 2 of 2 · ✓ accepted")
  await tui.send("k")
  await tui.waitFor("▸ part 1 of 2 · ○ not decided")
  await tui.send("r")
  await tui.waitFor("Decline this?")
  await tui.type("keep the small one")
  await tui.send("Enter")
  await tui.waitFor("▸ part 1 of 2 · ✕ declined: keep the small one")
  await tui.send("Left")
  await tui.waitFor(/● src\/long\.ts two ends\s+◐ accepted in part/)

  await choose(tui, "total", /^(?![^]*src\/long\.ts)/)
  await tui.waitFor("▸ the whole file · ○ not decided")
  await tui.send("a")
  await tui.waitFor("▸ the whole file · ✓ accepted")
  await tui.send("Left")
  await tui.waitFor(/Apply 2 files writes what is accepted, and runs sh check\.sh/)
  // So far nothing was written.
  expect(mine()).toEqual(before)

  await choose(tui, "Apply", /^(?![^]*src\/long\.ts)/)
  await tui.waitFor("Applied: 2 file operations")
  await tui.waitFor(/Undo Applied by \S+\./)
  expect(mine()).toEqual({
    ...before,
    "src/long.ts": before["src/long.ts"].replace("a39 = 39", "a39 = 3939"),
    "src/total.ts": "export const a = 2\n",
  })
  const store = storeOf(held.box)
  const [pass] = await store.list({ directory: held.box.project })
  const actions = async () => (await store.audit({ pass_over_id: pass!.id })).map(({ action }) => action)
  expect(await actions()).toEqual(expect.arrayContaining(["reviewed", "applied"]))
  expect(await store.applications({ pass_over_id: pass!.id })).toMatchObject([
    { status: "done", verification: { command: "sh check.sh", exit_code: 0 } },
  ])

  // What stands applied is not decided about any more.
  await choose(tui, "total", /^(?![^]*src\/long\.ts)/)
  await tui.waitFor("▸ the whole file · ✓ accepted")
  expect(await tui.capture()).not.toContain("accept a")
  await tui.send("Left")
  await tui.waitFor(/Undo Applied by \S+\./)
  await choose(tui, "Undo", /^(?![^]*src\/long\.ts)/)
  await tui.waitFor("Taken back: 2 file operations")
  await tui.waitFor("Apply 2 files")
  expect(mine()).toEqual(before)
  expect(await actions()).toContain("undone")
  store.close()
  held.model.verify()
})

test("a check that fails is told to be read, in a small terminal too, and one key takes it back", async () => {
  held.model.play({
    agents: {
      alice: [handover("Make it three"), heard],
      audit: [
        call("pass_over_return", {
          decision: "needs_modification",
          decision_reason: "Three is right.",
          artifacts: [edit("src/total.ts", "three", ["a = 1", "a = 3"])],
        }),
      ],
    },
  })
  await using tui = await terminal(held, { cols: 60, rows: 24 })
  await ask(tui, "Three")
  await tui.waitFor(/Heard: [^]*1 file\s+proposed/)
  await toChanges(tui, /alice → audit Make it three/)
  await tui.send("Enter")
  await tui.waitFor("Apply 1 file")
  await tui.send("Enter")
  const told = (await tui.waitFor("It failed.")).replaceAll(/\s+/g, " ")
  expect(told).toContain("Undo takes the change back")
  expect(now("src/total.ts")).toBe("export const a = 3\n")
  await tui.send("Enter")
  await tui.waitFor(/Undo Applied by/)
  await tui.send("Enter")
  await tui.waitFor("Taken back")
  expect(mine()).toEqual(before)
  held.model.verify()
})

test("a child at work is spoken to, and its pass is ended with a word", async () => {
  const doors = [gate(), gate()]
  held.model.play({
    agents: {
      alice: [handover("Look at it slowly"), heard],
      audit: [
        reply(hold(doors[0]!), call("read", { filePath: join(held.box.project, "src/total.ts") })),
        reply(hold(doors[1]!), say("never said")),
      ],
    },
  })
  await using tui = await terminal(held, { cols: 100, rows: 30 })
  await command(tui, "/pass-over-cancel", "End a pass that runs")
  await tui.waitFor("No pass is running just now.")
  await tui.send("Enter")
  await tui.waitFor(/^(?![^]*No pass is running)/)
  await ask(tui, "Slowly")
  const store = storeOf(held.box)
  while ((await store.lives()).every(({ phase }) => phase !== "working")) await Bun.sleep(50)

  await command(tui, "/pass-over-speak", "Speak to a child that is at work")
  await tui.waitFor("Speak to audit")
  // Nothing was typed, so nothing is sent.
  await tui.send("Enter")
  await tui.waitFor("Speak to audit")
  await tui.type("mind the tests as well")
  await tui.send("Enter")
  await tui.waitFor("Said to audit")
  doors[0]!.open()
  const hears = () => JSON.stringify(held.model.requests({ agent: "audit" }).at(-1)?.messages ?? [])
  while (!hears().includes("mind the tests as well")) await Bun.sleep(50)

  await command(tui, "/pass-over-cancel", "End a pass that runs")
  await tui.waitFor("Cancel the pass to audit?")
  await tui.type("not before noon")
  await tui.send("Enter")
  await tui.waitFor(/Heard: [^]*E018|Heard: [^]*cancelled|Heard: [^]*aborted/)
  doors[1]!.open()
  const pass = (await store.list({ directory: held.box.project })).find((one) => one.objective === "Look at it slowly")
  expect(pass?.status).toBe("cancelled")
  expect(JSON.stringify(await store.outcome(pass!.id))).toContain("not before noon")
  store.close()
})

test("at a gate of a flow it is read what was left and what each answer does, and answered", async () => {
  held.model.play({
    agents: {
      // What comes of it is brought as soon as somebody has answered, be that before she has spoken or after.
      alice: repeat((request: ModelRequest) => {
        const ended = /tiny.*has ended: \w+/.exec(request.user)?.[0]
        if (ended) return say(`Heard: ${ended}`)
        if (request.result("flow")) return say("Somebody is asked.")
        return call("flow", { action: "start", name: "tiny", inputs: {}, wait: true })
      }),
      audit: [
        call("pass_over_return", {
          decision: "approved",
          decision_reason: `src/total.ts exports one number.\u001b[2J ${"It says no more. ".repeat(60)}And that is all.`,
        }),
      ],
    },
  })
  await using tui = await terminal(held, { cols: 100, rows: 30 })
  await ask(tui, "Run tiny")
  const asked = await tui.waitFor("tiny, accept: accept what was found")
  expect(asked).toContain("Yes it goes on")
  expect(asked).toContain("No audit looks again")
  expect(asked).toContain("Ask back … audit is asked")
  await tui.send("Up")
  await tui.send("Enter")
  const read = await tui.waitFor(/answer it ← {2}↑↓ 1–\d+ of \d+/)
  expect(read).toContain("src/total.ts exports one number. It says no more.")
  await tui.send("End")
  const end = await tui.waitFor("Does it name the file?")
  expect(end).toContain("And that is all.")
  await tui.send("Left")
  await tui.waitFor("Yes it goes on")
  await tui.send("Enter")
  await tui.waitFor("Heard: tiny that was started here has ended: completed")
  held.model.verify()
})
