import { describe, expect, test } from "bun:test"
import type { ToolContext } from "@opencode-ai/plugin"
import { z } from "zod"
import { PassOverError, PassOverErrorCode, refuse } from "../../src/pass-over/domain/errors"
import { tool } from "../../src/tool/answer"

const schema = z.strictObject({ id: z.string(), offset: z.int().optional() })
const logged: string[] = []

const answer = (run: () => Promise<string | ReturnType<typeof refuse>>, args: unknown = { id: "a" }) =>
  tool(
    { name: "pass_over_read", description: "", schema, run },
    (_level, message) => void logged.push(message),
  ).execute(args, {} as ToolContext)

// Whatever keeps a tool from doing its work is told in one form, which a model can read and a test can look for.
describe("what a tool says that it has not done", () => {
  test("wrong arguments are all named at once, with a code and what to do", async () => {
    const told = await answer(async () => "done", { offset: "b", colour: "red" })
    expect(told).toMatch(/^Not done\. E030 CONFIG_INVALID: The arguments of pass_over_read are not right:\n/)
    for (const wrong of ["id", "offset", "colour"]) expect(told).toContain(wrong)
    expect(told).toEndWith(" → Correct them and call pass_over_read again.")
  })

  test("a refusal is its sentence", async () => {
    const no = refuse(PassOverErrorCode.NOT_FOUND, "No pass a is known.", { suggestion: "Look at its id." })
    expect(await answer(async () => no)).toBe("Not done. E042 NOT_FOUND: No pass a is known. → Look at its id.")
  })

  test("so is one that was thrown, and nothing is logged for it", async () => {
    const thrown = new PassOverError(PassOverErrorCode.DISABLED_PAIR, "It is off.", { suggestedAction: "Turn it on." })
    expect(await answer(() => Promise.reject(thrown))).toBe("Not done. E004 DISABLED_PAIR: It is off. → Turn it on.")
    expect(logged).toEqual([])
  })

  test("what nobody foresaw is no stack trace, and stands in the log", async () => {
    expect(await answer(() => Promise.reject(new Error("a bug")))).toBe(
      "Not done. E011 SUBAGENT_CRASHED: Something went wrong in pass_over_read itself: Error: a bug. → Do this part yourself; the details are in opencode's log.",
    )
    expect(logged).toEqual(["pass_over_read failed"])
  })
})
