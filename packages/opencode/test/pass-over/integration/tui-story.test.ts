import { expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { call, gate, hold, reply, say, type Tui } from "@pass-over/rehearsal"
import { storeOf } from "../support/opencode"
import { ask, command, heard, holdTerminal, terminal } from "../support/terminal"

setDefaultTimeout(180_000)

// The story of a pass from its question to a preference that the next one obeys, in the real terminal, by keys alone.
const PREFERENCES = `{
  // I want to be asked.
  "pairs": { "alice->audit": { "require_confirmation": true } },
}
`

const held = holdTerminal({
  files: { "src/total.ts": "export const a = 1\n", ".opencode/pass-over.json": PREFERENCES },
})

const file = () => join(held.box.project, ".opencode/pass-over.json")

const handover = (objective: string) =>
  call("pass_over", { subagent: "audit", objective, reason: "before the release" })
const objection = call("pass_over_return", {
  decision: "needs_modification",
  decision_reason: "The totals go the wrong way.",
  findings: [{ severity: "error", message: "it subtracts", path: "src/total.ts", line: 1 }],
})
const approval = call("pass_over_return", { decision: "approved", decision_reason: "It is right." })

const passes = (tui: Tui) => command(tui, "/pass-over", "Passes of this project")
const preferences = (tui: Tui) => command(tui, "/preferences", "Preferences: who may")

/** Closes a dialog. A key that came right behind Escape would be one with it. */
async function close(tui: Tui, shown: string) {
  await tui.send("Escape")
  await tui.waitFor(new RegExp(`^(?![^]*${shown})`))
}

test("a pass asks, is approved, ends, is found, is turned off for the next one, and turned on again", async () => {
  const door = gate()
  held.model.play({
    agents: {
      alice: [handover("Review the sums"), heard, handover("Look again"), heard, handover("Look at last"), heard],
      audit: [objection, reply(hold(door), approval)],
    },
  })
  await using tui = await terminal(held, { cols: 120, rows: 40 })
  await passes(tui)
  await tui.waitFor("No passes in this project yet.")
  await close(tui, "No passes in this project yet")

  await ask(tui, "Review it")
  await tui.waitFor("May alice pass this to audit? Review the sums")
  await tui.send("Enter")
  await tui.waitFor(/Heard: .*audit: needs_modification/)

  // Found by who, what, when and how it ended; opened; followed into its session and back.
  await passes(tui)
  await tui.waitFor("Search by agent")
  await tui.type("never said by anybody")
  await tui.waitFor("No results found")
  await tui.send("C-u")
  await tui.type("audit sums needs today")
  await tui.waitFor(/alice → audit Review the sums\s+needs modification · \d\d:\d\d/)
  await tui.send("Enter")
  const detail = await tui.waitFor(/1 finding\n/)
  expect(detail).toContain("audit: needs_modification · 1 finding")
  expect(detail).toContain("The totals go the wrong way.")
  expect(detail).toMatch(/error src\/total\.ts:1\s+it subtracts/)
  await tui.send("End")
  expect(await tui.waitFor(/was answered by \S+: confirmation: approve/)).toMatch(/\d+ tokens · \$0/)
  await tui.send("Enter")
  await tui.waitFor("Audit (1 of 1)")
  await tui.send("C-p")
  await tui.waitFor("Commands")
  await tui.type("Back to the session that")
  await tui.waitFor(/Back to the session that passed/)
  await tui.send("Enter")
  await tui.waitFor(/Heard: .*audit: needs_modification/)

  // What would change is said before anything is stored, and stored it is not in the user's file.
  await preferences(tui)
  await tui.waitFor("Search a pair")
  await tui.type("alice audit")
  await tui.waitFor(/From alice\s+alice → audit up to 10 min · asks before it starts\s+● on/)
  await tui.send("Enter")
  await tui.waitFor(/Enabled Yes\s+system/)
  await tui.type("enabled")
  await tui.waitFor(/^(?![^]*Auto return)/)
  await tui.send("Enter")
  expect(await tui.waitFor("Enabled: Yes → No · alice → audit")).toMatch(/Only alice → audit\s+Yes → No/)
  const store = storeOf(held.box)
  expect(await store.listPreferences(held.box.project)).toEqual([])
  await tui.send("Enter")
  await tui.waitFor(/Enabled No\s+stored/)
  expect(await store.listPreferences(held.box.project)).toMatchObject([{ settings: { enabled: false } }])
  await close(tui, "Search a setting")

  // The next pass obeys, and that it was refused is seen; from there it is one key to what refused it.
  await ask(tui, "Once more")
  await tui.waitFor(/Heard: Not done\. E004/)
  await passes(tui)
  await tui.waitFor(/alice → audit alice may not pass work[^]*refused E004 [^]*Review the sums/)
  await tui.send("Enter")
  const refusal = await tui.waitFor("What the agent was told to do")
  expect(refusal.replaceAll(/\s+/g, " ")).toContain("enabled is false in pairs.alice->audit.enabled")
  await tui.send("p")
  await tui.waitFor(/Enabled No\s+stored/)
  await tui.type("enabled")
  await tui.waitFor(/^(?![^]*Auto return)/)
  await tui.send("Enter")
  await tui.waitFor(/Take away what is stored \(only alice → audit\)\s+No → Yes/)
  await tui.send("Down")
  await tui.send("Enter")
  await tui.waitFor(/Enabled Yes\s+system/)
  expect(await store.listPreferences(held.box.project)).toEqual([])
  store.close()
  await close(tui, "Search a setting")

  await ask(tui, "And now")
  await tui.waitFor("May alice pass this to audit? Look at last")
  await tui.send("Enter")
  await passes(tui)
  await tui.waitFor(/Running\s+alice → audit Look at last/)
  // It ends while the list is open, and is among the ended ones without a key.
  door.open()
  await tui.waitFor(/Today\s+alice → audit Look at last\s+approved/)
  await close(tui, "Search by agent")
  await tui.waitFor(/Heard: .*audit: approved/)
  expect(readFileSync(file(), "utf8")).toBe(PREFERENCES)
  held.model.verify()
})

test("a small terminal shows the same; what is typed wrong is said, and what is wrong with a file", async () => {
  await using tui = await terminal(held, { cols: 60, rows: 24 })
  await passes(tui)
  await tui.waitFor(/alice → audit alice may not pass wo…\s+refused E004\n/)
  await tui.type("approved")
  await tui.waitFor(/Today\s+alice → audit Look at last\s+approved\n/)
  await tui.send("Enter")
  await tui.waitFor("Asked for")
  await tui.waitFor(/child enter {2}originator o {2}preferences p {2}list ←\s+↑↓ 1–\d+ of \d+/)
  await tui.send("Left")
  await tui.waitFor("Search by agent")
  await close(tui, "Search by agent")

  await preferences(tui)
  await tui.waitFor("Search a pair")
  await tui.type("build scout")
  await tui.waitFor(/From build\s+build → scout up to 5 min\s+● on/)
  await tui.send("Enter")
  await tui.waitFor("Search a setting")
  await tui.type("timeout")
  await tui.waitFor(/Timeout 5 min\s+the agent's own/)
  await tui.send("Enter")
  await tui.waitFor("How long the whole pass")
  await tui.send("C-u")
  await tui.type("forever")
  await tui.send("Enter")
  await tui.waitFor('"forever" is no time.')
  await tui.send("C-u")
  await tui.type("48 h")
  await tui.send("Enter")
  await tui.waitFor("must be at most 24 h, not 48 h")
  await tui.send("C-u")
  await tui.type("90 s")
  await tui.send("Enter")
  await tui.waitFor(/Only build → scout\s+5 min → 1 min 30 s/)
  await tui.waitFor(/The whole project\s+→ 1 min 30 s · \d+ pairs/)
  await tui.send("Enter")
  // The setting that was changed is in sight, though it is not among the first.
  await tui.waitFor(/● Timeout 1 min 30 s\s+stored/)
  await close(tui, "Search a setting")

  writeFileSync(file(), '{ "pairs": { "alice->audit": { "enabeld": false } } }')
  await preferences(tui)
  await tui.waitFor("A file of this project is not in order")
  await tui.send("Enter")
  const told = await tui.waitFor("did you mean")
  expect(told.replaceAll(/\s+/g, "")).toContain('unknownsetting"enabeld"')
  await tui.send("Enter")
  await tui.waitFor("Search a pair")
  writeFileSync(file(), PREFERENCES)
})

test("without a database that can be read, every command says why, and opencode goes on", async () => {
  const broken = join(held.box.data, "broken.db")
  writeFileSync(broken, "this is no database".repeat(1_000))
  await using tui = await terminal(held, { cols: 100, rows: 30 }, { PASS_OVER_DB: broken })
  await passes(tui)
  const told = await tui.waitFor(/Pass Over\s+esc[^]*history\s+back\./)
  expect(told.replaceAll(/\s+/g, "")).toContain(`broken.db:thefileisdamaged`)
  await tui.send("Enter")
  await tui.waitFor(/^(?![^]*Pass Over\s+esc)/)
  held.model.play({ agents: { alice: [say("I am here all the same")] } })
  await ask(tui, "Are you there")
  await tui.waitFor("I am here all the same")
})
