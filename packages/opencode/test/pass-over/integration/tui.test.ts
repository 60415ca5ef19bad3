import { expect, setDefaultTimeout, test } from "bun:test"
import { call, gate, hold, reply, say, type ModelRequest } from "@pass-over/rehearsal"
import { storeOf } from "../support/opencode"
import { heard, holdTerminal, terminal as open } from "../support/terminal"
import { back } from "../support/script"

setDefaultTimeout(120_000)

// The real terminal interface with both halves of the plugin, by keys alone.
const held = holdTerminal({
  config: {
    agent: {
      dora: { mode: "subagent", description: "Digs", prompt: "You dig.", permission: { "*": "allow" } },
      wren: {
        mode: "subagent",
        description: "Does",
        prompt: "You do.",
        permission: { "*": "allow", bash: { "echo asked*": "ask" } },
      },
    },
  },
  files: {
    "src/total.ts": "export const a = 1\n",
    ".opencode/pass-over.json": JSON.stringify({
      // The source of a pair may pass work on, whatever its mode.
      pairs: { "alice->audit": { require_confirmation: true }, "dora->wren": {} },
    }),
  },
})

const terminal = () => open(held, { cols: 150, rows: 44 })

const handover = (objective: string, subagent = "audit") => call("pass_over", { subagent, objective, reason: "test" })

test("a pass asks, is approved by a key, is seen running with its countdown, and one step leads to its child and back", async () => {
  const door = gate()
  held.model.play({ agents: { alice: [handover("Review the sums"), heard], audit: [reply(hold(door), back)] } })
  await using tui = await terminal()
  await tui.type("Review it")
  await tui.send("Enter")
  const asked = await tui.waitFor("May alice pass this to audit? Review the sums")
  expect(asked).toContain("No, because")
  // The host's own dialog is not put on top of ours.
  expect(asked).not.toContain("Permission required")
  await tui.send("Enter")
  await tui.waitFor(/working · \d+:\d\d left/)
  expect(await tui.waitFor("alice → audit")).toContain("Passes")
  await tui.type("/pass-over")
  await tui.waitFor("Passes of this project")
  await tui.send("Enter")
  await tui.waitFor(/Running\s+alice → audit Review the sums/)
  await tui.send("Enter")
  await tui.waitFor("Audit (1 of 1)")
  door.open()
  await tui.send("C-p")
  await tui.waitFor("Commands")
  await tui.type("Back to the session that")
  await tui.waitFor(/Back to the session that passed/)
  await tui.send("Enter")
  await tui.waitFor(/Heard: .*audit: approved/)
  held.model.verify()
})

test("a no with a word reaches the agent", async () => {
  held.model.play({
    agents: {
      alice: [
        handover("Not today"),
        (request: ModelRequest) =>
          say(request.result("pass_over")?.includes("too late for that") ? "I was told why" : "I was told nothing"),
      ],
    },
  })
  await using tui = await terminal()
  await tui.type("Review it")
  await tui.send("Enter")
  await tui.waitFor("May alice pass this to audit? Not today")
  await tui.send("Down")
  await tui.send("Down")
  await tui.send("Enter")
  await tui.waitFor("Why not?")
  await tui.type("too late for that")
  await tui.send("Enter")
  await tui.waitFor("I was told why")
  held.model.verify()
})

test("a question that is answered elsewhere goes away by itself, and an empty inbox says so", async () => {
  held.model.play({ agents: { alice: [handover("Answered elsewhere"), heard], audit: [back] } })
  await using tui = await terminal()
  await tui.type("Review it")
  await tui.send("Enter")
  await tui.waitFor("May alice pass this to audit? Answered elsewhere")
  const store = storeOf(held.box)
  const [waiting] = await store.gates({ status: ["pending"] })
  if (!waiting) throw new Error("nothing waits")
  await store.answerGate({
    gate_id: waiting.gate_id,
    answer: { verdict: "approve", note: null, by: "ada", surface: "the panel" },
    at: Date.now(),
    event: {
      type: "gate.answered",
      pass_over_id: waiting.pass_over_id ?? "",
      session_id: waiting.session_id,
      directory: waiting.directory,
      at: Date.now(),
      data: {},
    },
  })
  store.close()
  await tui.waitFor(/Heard: .*audit: approved/)
  await tui.type("/inbox")
  await tui.waitFor("What waits for you")
  await tui.send("Enter")
  await tui.waitFor("Nothing waits for you.")
  held.model.verify()
})

test("what a child of a child needs the user's word for is asked at the root, and their word is carried out", async () => {
  const told: string[] = []
  held.model.play({
    agents: {
      alice: [handover("Dig", "dora"), heard],
      dora: [handover("Do it", "wren"), back],
      wren: [
        call("bash", { command: "echo asked the user", description: "Say so" }),
        (request: ModelRequest) => (told.push(request.result("bash") ?? ""), back),
      ],
    },
  })
  await using tui = await terminal()
  await tui.type("Go")
  await tui.send("Enter")
  // The host's own question, put where the user is; each pass above says that it waits for them.
  // Two trees are made before that, one from the other.
  const asked = await tui.waitFor("$ echo asked the user", 60_000)
  expect(asked).toContain("Permission required")
  await tui.waitFor(/alice → dora\s+waits for you\s+[\s\S]*dora → wren\s+waits for you/)
  await tui.send("Enter")
  await tui.waitFor(/Heard: .*dora: approved/)
  expect(told[0]).toContain("asked the user")
  held.model.verify()
})
