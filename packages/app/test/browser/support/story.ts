import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openGate } from "../../../../opencode/src/pass-over/service/gate"
import { leaves } from "../../../../opencode/test/pass-over/support/flow"
import type { World } from "./world"

const FINDINGS = [
  {
    severity: "error",
    category: "logic_error",
    message: "The discount is added to the sum instead of taken off it: 10 % off makes a cart 10 % dearer.",
    path: "src/cart.js",
    line: 4,
    suggested_fix: "return Math.round(sum * (1 - discount / 100))",
  },
  { severity: "warning", category: "tests", message: "No test covers an empty cart.", path: "test/cart.test.js" },
  { severity: "info", category: "style", message: "The loop could be a reduce." },
]

export const CART_BEFORE =
  "export function total(items, discount = 0) {\n  const sum = add(items)\n  return sum * (1 + discount / 100)\n}\n"

export const LIST_BEFORE = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join("")

/** Three places, far enough from each other to be decided about one by one. */
const LIST_CHANGE = {
  type: "file_modification",
  path: "src/list.js",
  old_content: LIST_BEFORE,
  new_content: LIST_BEFORE.replace("line 2\n", "line two\n")
    .replace("line 20\n", "line twenty\nand one more\n")
    .replace("line 38\n", ""),
  reason: "words for numbers",
  confidence: "high",
}

const SAID = {
  type: "message",
  content: "I did not look at the invoices; they may round in another place.",
  visibility: "user_visible",
}

const CHANGE = {
  type: "file_modification",
  path: "src/cart.js",
  old_content: CART_BEFORE,
  new_content: CART_BEFORE.replace("1 + discount", "1 - discount"),
  reason: "the sign of the discount",
  confidence: "high",
}

/** Teaches the children of a world what they do when they are asked. */
export function teach(world: World) {
  const held = Promise.withResolvers<void>()
  world.host.script("audit", async (child) => {
    child.think("The invoice shows the total with the discount. If the sum is right the sign may be wrong.")
    child.say("I read src/cart.js first, then I run the tests.")
    child.tool("read", { filePath: "src/cart.js" }, "export function total(items, discount = 0) {\n  …\n}")
    child.tool("bash", { command: "node --test" }, "# tests 2\n# pass 1\n# fail 1")
    child.say(
      "One of the two tests fails: a cart of 100 with 10 % off comes to 110.\n\nThe sum itself is right; `total` adds the discount instead of taking it off.",
    )
    child.say("DECISION: Is the sum right?\nAnswer: no\nReasoning: the second test shows it")
    child.step({ input: 14_020, output: 312, cost: 0.018 })
    await child.return({
      status: "completed",
      decision: "needs_modification",
      decision_reason: "The sum is right; the discount has the wrong sign, and the second test shows it.",
      findings: FINDINGS,
      recommendations: ["Correct the sign and run the tests again.", "Add a test for an empty cart."],
      artifacts: [CHANGE, SAID],
    })
    child.step({ input: 2_104, output: 142, cost: 0.004 })
  })
  const rest = Promise.withResolvers<void>()
  let steps = 0
  world.host.script("clerk", async (child) => {
    child.tool("read", { filePath: "src/cart.js" }, "1: export function total(items, discount = 0) {")
    child.step({ input: 2_400, output: 90, cost: 0.01 })
    // The first step is over at once; the others stand still while somebody looks.
    steps += 1
    if (steps > 1) await rest.promise
    await leaves(child, { context_summary: "Looked at src/cart.js: total takes items and a discount." })
  })
  world.host.script("painter", async (child) => {
    await child.return({ status: "completed", findings: [], artifacts: [LIST_CHANGE] })
    child.step({})
  })
  world.host.script("scout", async (child) => {
    child.tool("grep", { pattern: "discount" }, "src/cart.js:4\nsrc/price.js:18")
    child.step({ input: 8_400, output: 120, cost: 0.009 })
    await held.promise
    await child.return({ status: "completed", findings: ["Two places set a discount."] })
    child.step({ input: 100, output: 10 })
  })
  world.host.script("inspector", async (child) => {
    child.tool("bash", { command: "node --prof server.js" }, "ticks 4203")
    child.step({ input: 22_900, output: 840, cost: 0.041 })
    child.ask("per_1")
    await held.promise
    await child.return({ status: "partial", decision_reason: "The profile is there, the cause is not.", findings: [] })
    child.step({})
  })
  return { release: held.resolve, goOn: rest.resolve }
}

const ended = async (sent: Awaited<ReturnType<World["ask"]>>) => {
  if (!sent.ok) throw new Error(sent.refusal.message)
  return sent.runner.outcome
}

/** A project in the middle of its day: some passes have come back, some run, one was refused, one question waits. */
export async function fill(world: World) {
  mkdirSync(join(world.directory, "src"), { recursive: true })
  writeFileSync(join(world.directory, "src/cart.js"), CART_BEFORE)
  const taught = teach(world)
  await ended(
    await world.ask({
      objective:
        "Review src/cart.js before we ship it: is the total right, with and without a discount? Run the tests.",
      background: "Customers reported a wrong total on the invoice.",
      files: ["src/cart.js", "test/cart.test.js"],
      constraints: ["read_only"],
    }),
  )
  await ended(
    await world.ask({ objective: "Check the invoice template against the new tax rules.", reason: "tax_change" }),
  )
  const [row] = await world.engine.store.passes({ limit: 1 })
  if (row?.result?.decision !== "needs_modification") throw new Error(`it came to ${JSON.stringify(row?.result)}`)
  await world.ask({ subagent: "nobody-we-know", objective: "Review it" })
  const scout = await world.ask({
    subagent: "scout",
    objective: "Find every place that sets or reads a discount, and say which of them round.",
  })
  if (!scout.ok) throw new Error(scout.refusal.message)
  await until(() => scout.runner.pass.child_session_id !== null)
  await world.ask(
    { subagent: "inspector", wait: true, objective: "Why does the price list take two seconds to load? Profile it." },
    { agent: "scout", session_id: scout.runner.pass.child_session_id ?? "", call_id: "call_nested" },
  )
  const { gate } = await openGate(world.engine, {
    key: "confirm 1",
    kind: "confirmation",
    pass: undefined,
    session_id: "ses_root",
    directory: world.directory,
    asked_by: "alice",
    question: "May alice pass “Rewrite the checkout” to audit?",
    detail: { objective: "Rewrite the checkout so that it asks for the address once.", timeout_ms: 600_000 },
    policy: "require_confirmation in pairs.alice->audit of .opencode/pass-over.json",
    default_action: "reject",
    ttl_ms: 30 * 60_000,
  })
  const started = await world.flows.start({
    name: "release",
    inputs: { what: "the shop, version 2" },
    session_id: "ses_root",
    originator: "alice",
    by: "model",
    model: null,
  })
  if (!started.ok) throw new Error(started.refusal.message)
  const { run } = started
  await until(async () => Object.keys((await world.flows.state(run.run_id))?.state.results ?? {}).length > 0)
  // Long enough for the first progress to be written down.
  await Bun.sleep(600)
  return { ...taught, gate, scout: scout.runner.pass.id, run: run.run_id }
}

export async function until(done: () => boolean | Promise<boolean>, patience_ms = 10_000) {
  const end = performance.now() + patience_ms
  while (!(await done())) {
    if (performance.now() > end) throw new Error("it did not happen in time")
    await Bun.sleep(20)
  }
}
