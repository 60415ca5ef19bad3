import { join } from "node:path"
import { call, createModel, createSandbox, reply, say, type ModelRequest } from "@pass-over/rehearsal"
import { openEnvelope } from "../../packages/opencode/src/pass-over/domain/envelope"
import { keepForPanel } from "./sample"
import { PROMPT, readRun, readStore, sampleFiles, type Story } from "./story"

const usage = (input: number, output: number) => ({ usage: { input, output } })

/** What Alice says at the end depends on what she was told: her answer is made of what came back to her. */
function report(request: ModelRequest) {
  const returned = request.result("pass_over") ?? ""
  const checked = request.result("bash") ?? ""
  const line = openEnvelope(returned)?.headline ?? "audit did not answer"
  const green = /# fail 0/.test(checked)
  return say(`${line}. I corrected src/cart.js as Audit suggested; the tests ${green ? "pass now" : "still fail"}.`)
}

const finding = {
  severity: "error",
  category: "logic_error",
  message: "The discount is added to the sum instead of taken off it: 10 % off makes a cart 10 % dearer.",
  path: "src/cart.js",
  line: 4,
  suggested_fix: "return Math.round(sum * (1 - discount / 100))",
}

/** The same story with a scripted model in place of a provider; all the rest is real. */
export async function rehearsed(plugin: string): Promise<Story> {
  const began = performance.now()
  await using model = await createModel()
  await using box = await createSandbox({ model, plugins: [plugin], files: sampleFiles() })
  const cart = join(box.project, "src/cart.js")
  model.play({
    agents: {
      alice: [
        reply(
          say("This is about money, so I let Audit look at it first."),
          call("pass_over", {
            subagent: "audit",
            objective: "Review src/cart.js: is the total right, with and without a discount? Run the tests.",
            reason: "code_review",
            files: ["src/cart.js", "test/cart.test.js"],
            expected_output_type: "report",
          }),
          usage(1_830, 96),
        ),
        reply(
          call("edit", { filePath: cart, oldString: "1 + discount / 100", newString: "1 - discount / 100" }),
          usage(2_210, 64),
        ),
        reply(
          call("bash", { command: "node --test --test-reporter=tap", description: "Runs the tests" }),
          usage(2_390, 38),
        ),
        (request: ModelRequest) => reply(report(request), usage(2_760, 41)),
      ],
      audit: [
        reply(call("read", { filePath: cart }), usage(1_402, 30)),
        reply(
          call("bash", { command: "node --test --test-reporter=tap", description: "Runs the tests" }),
          usage(1_655, 34),
        ),
        reply(
          call("pass_over_return", {
            status: "completed",
            decision: "needs_modification",
            decision_reason: "The sum is right; the discount has the wrong sign, and the second test shows it.",
            findings: [finding],
            recommendations: ["Correct the sign and run the tests again."],
            evidence: [
              { type: "file", path: "src/cart.js", line: 4 },
              { type: "command", command: "node --test --test-reporter=tap", exit_code: 1 },
            ],
          }),
          usage(2_104, 142),
        ),
      ],
    },
  })
  const run = await box.run({ agent: "alice", prompt: PROMPT, timeout_ms: 120_000 })
  const problems = model.report()
  const database = join(box.data, "opencode/pass-over.db")
  keepForPanel(database)
  return {
    model: "the scripted model (no provider, no key)",
    opencode: "1.18.33",
    project: "docs/example/sample-project",
    took_ms: performance.now() - began,
    ...(await readStore(database)),
    ...readRun(run.events),
    trouble: [run.code === 0 ? "" : run.stderr.slice(-2_000), problems ?? ""].filter(Boolean).join("\n"),
  }
}
