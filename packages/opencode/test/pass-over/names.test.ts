import { expect, test } from "bun:test"
import { AuditLog } from "opencode-pass-over/audit"
import { PassOverConfig } from "opencode-pass-over/config"
import * as core from "opencode-pass-over/core"
import { createHome } from "../cli/support"

const { ChainValidator, Extract, HistorySelector, PassOver, PassOverErrorCode } = core

// Decision 20: what the guide calls them, from outside of the package, by the package's own name.
test("the names of the guide can be imported by whoever has installed the package", () => {
  using _home = createHome()
  const chain = { originating_agent_id: "audit", subagent_id: "inspector" }
  expect(ChainValidator.validatePassOverChain(chain, { above: ["alice", "scout"] })).toMatchObject({
    valid: false,
    error: { code: PassOverErrorCode.CHAIN_DEPTH_EXCEEDED },
  })
  expect(PassOverConfig.validate({ defaults: { timeout_ms: 5_000 } })).toBe(true)
  expect(PassOverConfig.resolvePreference("alice", "audit", { timeout_ms: 5_000 })).toMatchObject({ timeout_ms: 5_000 })
  expect(typeof PassOverConfig.load).toBe("function")
  expect(Extract.artifacts([], "audit")).toEqual([])
  expect(typeof Extract.workContext).toBe("function")
  expect(PassOver.Request.safeParse({ id: "no pass" }).success).toBe(false)
  expect(HistorySelector.select([], { max_messages: 1 })).toEqual([])
  expect([typeof AuditLog.record, typeof AuditLog.query]).toEqual(["function", "function"])
})
