import { describe, expect, test } from "bun:test"
import { AGENTS } from "../../src/agent/agent"
import { register, type HostConfig } from "../../src/agent/register"
import { evaluate, type Action, type Rule } from "../../src/pass-over/domain/right"

const originators = (config: HostConfig) => [...register(config, (_name, mode) => mode === "primary")]
const shown = (config: HostConfig, name: string) => config.agent?.[name]?.permission

test("an agent that may not pass work on by the user's own rules is no originator, and sees none of our tools", () => {
  for (const config of [
    { permission: { pass_over: "deny" } },
    { permission: { "pass_over*": "deny" } },
    { permission: "deny" },
    { agent: { build: { permission: { "*": "deny", read: "allow" } } } },
  ] satisfies HostConfig[]) {
    expect(originators(config)).not.toContain("build")
    expect(shown(config, "build")).toMatchObject({ pass_over_read: "deny", pass_over_review: "deny", flow: "deny" })
  }
})

test("who is asked about each pass, or barred from one alone, passes work on as before", () => {
  for (const permission of [{ pass_over: "ask" }, { pass_over: { "*->audit": "deny" } }, "ask", undefined]) {
    expect(originators({ permission })).toContain("build")
  }
  const agent = { build: { permission: { pass_over: "allow" } } }
  expect(originators({ permission: { pass_over: "deny" }, agent })).toContain("build")
})

describe("the user's own agent of one of our names", () => {
  const ours = AGENTS.find(({ name }) => name === "audit")!.host
  const audit = (user: object) => {
    const config: HostConfig = { agent: { audit: user } }
    originators(config)
    return config.agent?.audit
  }

  // Those below the first three are none that we set: they have to come through.
  test.each([
    ["mode", "all"],
    ["description", "Mine"],
    ["prompt", "You are mine."],
    ["hidden", true],
    ["disable", true],
    ["model", "mine/model"],
    ["variant", "high"],
    ["temperature", 0.1],
    ["top_p", 0.2],
    ["steps", 3],
    ["color", "#ff0000"],
    ["options", { mine: true }],
  ])("has its own %s, and ours of what it leaves out", (field, value) => {
    expect(audit({ [field]: value })).toEqual({ ...ours, [field]: value, permission: expect.any(Object) })
  })

  // The host's reading: its agents begin with everything allowed, and of all that match, the last rule holds.
  const rules = (permission: object): Rule[] => [
    { permission: "*", pattern: "*", action: "allow" },
    ...Object.entries(permission).flatMap(([name, said]: [string, Action | Record<string, Action>]) =>
      Object.entries(typeof said === "string" ? { "*": said } : said).map(([pattern, action]) => ({
        permission: name,
        pattern,
        action,
      })),
    ),
  ]
  const said = (permission: object, name: string, pattern: string) => evaluate(rules(permission), name, pattern).action

  test.each<[permission: unknown, expected: [src: Action, docs: Action, task: Action]]>([
    [undefined, ["deny", "deny", "deny"]],
    [{ bash: "deny" }, ["deny", "deny", "deny"]],
    ["allow", ["allow", "allow", "allow"]],
    [{ "*": "allow" }, ["allow", "allow", "allow"]],
    [{ "*": "ask" }, ["ask", "ask", "ask"]],
    [{ "e*": "ask" }, ["ask", "ask", "deny"]],
    [{ edit: "allow" }, ["allow", "allow", "deny"]],
    [{ edit: { "*": "allow" } }, ["allow", "allow", "deny"]],
    [{ edit: { "docs/*": "allow" } }, ["deny", "allow", "deny"]],
    [{ edit: { "docs/*": "allow", "*": "ask" } }, ["ask", "ask", "deny"]],
    [{ "*": "allow", edit: { "docs/*": "deny" } }, ["allow", "deny", "allow"]],
    [{ edit: { "docs/*": "deny" }, "*": "allow" }, ["allow", "allow", "allow"]],
    [{ "*": { "docs/*": "allow" } }, ["deny", "allow", "deny"]],
    [{ "*": { "docs/*": "allow" }, edit: { "src/*": "ask" } }, ["ask", "allow", "deny"]],
    [{ bash: { "docs/*": "allow" }, edit: { "src/*": "ask" } }, ["ask", "deny", "deny"]],
    [{ task: { general: "allow" } }, ["deny", "deny", "allow"]],
  ])("with the permission %j wins over our rules, and over nothing that it leaves out", (permission, expected) => {
    const made = audit(permission === undefined ? {} : { permission })?.permission as object
    expect([said(made, "edit", "src/a"), said(made, "edit", "docs/a"), said(made, "task", "general")]).toEqual(expected)
    // Who sees our tools is another matter.
    expect(["pass_over", "pass_over_return", "flow"].map((name) => said(made, name, "*"))).toEqual([
      "deny",
      "deny",
      "deny",
    ])
  })

  test("is told of our tools what its user says of them by name", () => {
    const made = audit({ permission: { "*": "ask", flow: "allow" } })?.permission as object
    expect(["pass_over", "flow"].map((name) => said(made, name, "*"))).toEqual(["deny", "allow"])
  })
})
