import { describe } from "bun:test"
import { applyContract } from "./conformance/apply"
import { auditContract } from "./conformance/audit"
import { blobContract } from "./conformance/blob"
import { bringContract } from "./conformance/bring"
import { changeContract } from "./conformance/change"
import { claimContract } from "./conformance/claim"
import { commandContract } from "./conformance/command"
import { contentsContract } from "./conformance/contents"
import { contestContract } from "./conformance/contest"
import { deliveryContract } from "./conformance/delivery"
import { flowContract } from "./conformance/flow"
import { gateContract } from "./conformance/gate"
import { lateContract } from "./conformance/late"
import { lifeContract } from "./conformance/life"
import { newsContract } from "./conformance/news"
import { openContract } from "./conformance/open"
import { ownerContract } from "./conformance/owner"
import { preferenceContract } from "./conformance/preference"
import { closeContract, processContract } from "./conformance/process"
import { queryContract } from "./conformance/query"
import { readContract } from "./conformance/read"
import { retentionContract } from "./conformance/retention"
import { retentionLimitContract } from "./conformance/retention-limit"
import type { Setup } from "./conformance/scene"
import { settleContract } from "./conformance/settle"
import { slotContract } from "./conformance/slot"
import { startContract } from "./conformance/start"
import { treeContract } from "./conformance/tree"

export type Conforming = {
  setup: Setup
  /** Whether several processes can have the same data; the harness then brings a store beside the first. */
  shared?: boolean
}

/**
 * What every store has to do, whatever it is built on. It uses nothing but the port, and a second way to the events, so
 * that the port's own is not believed without one.
 */
export function conformance(name: string, { setup, shared = false }: Conforming) {
  describe(name, () => {
    openContract(setup)
    lifeContract(setup)
    settleContract(setup)
    slotContract(setup)
    contentsContract(setup)
    deliveryContract(setup)
    bringContract(setup)
    readContract(setup)
    newsContract(setup)
    queryContract(setup)
    ownerContract(setup)
    claimContract(setup)
    lateContract(setup)
    commandContract(setup)
    startContract(setup)
    gateContract(setup)
    preferenceContract(setup)
    auditContract(setup)
    flowContract(setup)
    changeContract(setup)
    blobContract(setup)
    applyContract(setup)
    treeContract(setup)
    contestContract(setup)
    retentionContract(setup)
    retentionLimitContract(setup)
    if (shared) processContract(setup)
    closeContract(setup)
  })
}
