import { describe, expect, test } from "bun:test"
import type { AssistantMessage } from "@opencode-ai/sdk/v2"
import { toFailure } from "../../src/session/failure"

type HostError = NonNullable<AssistantMessage["error"]>

const failed = (name: string, data: Record<string, unknown>) => toFailure({ name, data } as HostError)

describe("what opencode says of a child's message", () => {
  test("too much context is E012, and trying again with as much cannot help", () => {
    expect(failed("ContextOverflowError", { message: "200001 tokens > 200000" })).toEqual({
      code: "E012",
      message: "200001 tokens > 200000",
      final: true,
    })
  })

  test("a stop is a cancellation, a refused key is final", () => {
    expect(failed("MessageAbortedError", { message: "aborted" })).toMatchObject({ code: "E016", final: true })
    expect(failed("ProviderAuthError", { message: "no key" })).toMatchObject({ code: "E011", final: true })
  })

  test("a provider that is busy or broken may be tried again, one that does not understand us may not", () => {
    const final = (statusCode?: number) => failed("APIError", { message: "no", statusCode }).final
    expect([408, 429, 500, 503, undefined].map(final)).toEqual([false, false, false, false, false])
    expect([400, 401, 404, 422].map(final)).toEqual([true, true, true, true])
  })

  test("anything else is a crash, told by its name where it has no words", () => {
    expect(failed("SomethingNew", {})).toEqual({ code: "E011", message: "SomethingNew" })
  })
})
