import { expect, test } from "bun:test"
import { register, type HostConfig } from "../../src/agent/register"

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
