import { describe, expect, test } from "bun:test"
import {
  errorName,
  ERRORS,
  PassOverError,
  PassOverErrorCode,
  refuse,
  sentence,
  toError,
  userFacingErrorMessage,
} from "../../src/pass-over/domain/errors"

// The enum of the architecture, §9.1, with what decision 4 adds; and from the guide's table 7.3, read by its words,
// whether trying again can help.
const CODES: [name: string, code: string, recoverable: boolean][] = [
  ["INVALID_SUBAGENT", "E001", false],
  ["CHAIN_DEPTH_EXCEEDED", "E002", false],
  ["CYCLE_DETECTED", "E003", false],
  ["DISABLED_PAIR", "E004", false],
  ["SUBAGENT_TIMEOUT", "E010", true],
  ["SUBAGENT_CRASHED", "E011", true],
  ["CONTEXT_OVERFLOW", "E012", false],
  ["PERMISSION_DENIED", "E013", false],
  ["RESOURCE_EXHAUSTED", "E014", true],
  ["BUDGET_EXCEEDED", "E015", false],
  ["CANCELLED", "E016", false],
  ["DECLINED", "E017", false],
  ["RETURN_CONTEXT_LOST", "E020", false],
  ["INVALID_WORK_OUTPUT", "E021", true],
  ["RETURN_TIMEOUT", "E022", true],
  ["CONFIG_INVALID", "E030", false],
  ["PREFERENCE_CONFLICT", "E031", false],
  ["STALE_REVISION", "E040", false],
  ["STALE_BASE", "E041", false],
  ["NOT_FOUND", "E042", false],
]
const ALL = Object.values(PassOverErrorCode)

test("the codes are exactly those of the architecture and of decision 4", () => {
  expect(Object.entries(PassOverErrorCode).map((entry) => entry.join(" "))).toEqual(
    CODES.map(([name, code]) => `${name} ${code}`),
  )
})

for (const [name, code, recoverable] of CODES) {
  test(`${code} is ${name} and is ${recoverable ? "" : "not "}recoverable`, () => {
    const known = ALL.find((candidate) => candidate === code)!
    expect(errorName(known)).toBe(name as ReturnType<typeof errorName>)
    expect(ERRORS[known].recoverable).toBe(recoverable)
    expect(new PassOverError(known, "x").recoverable).toBe(recoverable)
  })
}

describe("what a user and an agent are told", () => {
  test("is a whole sentence for every code, and never the same one twice", () => {
    const words = ALL.flatMap((code) => [ERRORS[code].user, ERRORS[code].action])
    expect(words.filter((line) => !/^[A-Z].{10,200}\.$/.test(line))).toEqual([])
    expect(new Set(words).size).toBe(words.length)
  })

  test("holds no code and no stack: a user never read our documents", () => {
    const leaks = ALL.filter((code) => /E\d{3}|[A-Z]{3,}_|Error:|at \//.test(ERRORS[code].user))
    expect(leaks).toEqual([])
  })

  test("is what the guide says, 7.3, by its words and not by its numbers", () => {
    const message = (code: PassOverErrorCode) => userFacingErrorMessage(new PassOverError(code, "internal detail"))
    expect(message("E002")).toBe("Too many delegation steps. Cannot pass to another agent.")
    expect(message("E003")).toBe("This would create a delegation loop. Choose a different agent.")
    expect(message("E010")).toBe("Agent took too long to respond. Try again with a simpler task.")
    expect(message("E030")).toBe("Configuration error. Contact your administrator.")
  })

  test("is a plain apology for everything that is not ours, without its message", () => {
    for (const error of [new Error("E001: secret"), "E002", undefined, null, 7, { code: "E003" }]) {
      expect(userFacingErrorMessage(error)).toBe("Unexpected error. Please try again.")
    }
  })

  // The guide's table 7.3 and what it says of single codes, by its words: the scenario, our code, and the recovery.
  test.each([
    ["chain depth exceeded: reduce chain depth", "E002", /Do this part .* yourself, .* max_chain_depth/],
    ["cycle detected: review routing, add exclusions", "E003", /Choose an agent .* "enabled": false rules a pair out/],
    ["agent not found: verify the name, check the registry", "E001", /agents listed, .* name in your opencode config/],
    ["invalid work output: validate the output schema", "E021", /Check output_schema/],
    ["subagent timeout: extended timeout or split context", "E010", /Ask for less at once, .* timeout_ms/],
    ["subagent crashed: retry, check logs", "E011", /Try again; .* log/],
    ["permission denied: update agent permissions", "E013", /Change the permission of the agent/],
    ["resource exhausted: reduce context, clean up old logs", "E014", /pass-over audit prune .* send less context/],
    ["return context lost: restore from audit log", "E020", /pass-over audit restore/],
    ["invalid return format: attempt to parse, escalate", "E021", /asked once more by itself; .* kept and marked/],
    ["return timeout: retry return delivery", "E022", /delivered at the next chance/],
    [
      "config validation failed: fix, validate against schema",
      "E030",
      /Correct pass-over\.json; pass-over config validate/,
    ],
    ["missing required setting: add it", "E030", /Correct pass-over\.json/],
  ] as const)("names for each recovery of the guide what to do: %s", (_scenario, code, words) => {
    expect(ERRORS[code].action).toMatch(words)
    expect(new PassOverError(code, "x").suggestedAction).toMatch(words)
  })
})

describe("a PassOverError", () => {
  test("is an Error with a code, a message and what is known of the code", () => {
    const error = new PassOverError("E014", "the disk is full")
    expect(error).toBeInstanceOf(Error)
    expect(error.name).toBe("PassOverError")
    expect(error).toMatchObject({
      code: "E014",
      message: "the disk is full",
      recoverable: true,
      suggestedAction: ERRORS.E014.action,
      context: {},
    })
    expect("cause" in error).toBe(false)
  })

  test("takes what a caller knows better", () => {
    const cause = new Error("below")
    const error = new PassOverError("E014", "full", {
      recoverable: false,
      suggestedAction: "Buy a disk.",
      context: { free: 0 },
      cause,
    })
    expect(error).toMatchObject({ recoverable: false, suggestedAction: "Buy a disk.", context: { free: 0 } })
    expect(error.cause).toBe(cause)
  })
})

describe("a PassOverError as the architecture makes it, §9.1", () => {
  test("has its third argument for recoverable and its fourth for the suggested action", () => {
    const made = (...args: ConstructorParameters<typeof PassOverError>) => new PassOverError(...args)
    expect(made("E011", "m", false, "do this")).toMatchObject({ recoverable: false, suggestedAction: "do this" })
    expect(made("E030", "m", true)).toMatchObject({ recoverable: true, suggestedAction: ERRORS.E030.action })
    expect(made("E011", "m", undefined, "do this")).toMatchObject({ recoverable: true, suggestedAction: "do this" })
    expect(made("E011", "m", { recoverable: false }, "do this")).toMatchObject({
      recoverable: false,
      suggestedAction: "do this",
    })
  })
})

describe("a refusal", () => {
  test("has a suggestion without being given one", () => {
    expect(refuse("E004", "alice may not")).toEqual({
      code: "E004",
      message: "alice may not",
      suggestion: ERRORS.E004.action,
      detail: {},
    })
  })

  test("becomes the same thing as an error", () => {
    const error = toError(refuse("E004", "alice may not", { suggestion: "Ask.", detail: { setting: "enabled" } }))
    expect(error).toBeInstanceOf(PassOverError)
    expect(error).toMatchObject({
      code: "E004",
      message: "alice may not",
      suggestedAction: "Ask.",
      context: { setting: "enabled" },
      recoverable: false,
    })
  })

  test("is one line for an agent or a log", () => {
    expect(sentence(refuse("E003", "a → a", { suggestion: "Choose another." }))).toBe(
      "E003 CYCLE_DETECTED: a → a → Choose another.",
    )
  })
})
