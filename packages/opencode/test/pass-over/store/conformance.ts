import { describe } from "bun:test"
import { auditContract } from "./conformance/audit"
import { contentsContract } from "./conformance/contents"
import { deliveryContract } from "./conformance/delivery"
import { flowContract } from "./conformance/flow"
import { lifeContract } from "./conformance/life"
import { openContract } from "./conformance/open"
import { preferenceContract } from "./conformance/preference"
import { readContract } from "./conformance/read"
import { retentionContract } from "./conformance/retention"
import { retentionLimitContract } from "./conformance/retention-limit"
import type { Setup } from "./conformance/scene"
import { settleContract } from "./conformance/settle"

/**
 * What every store has to do, whatever it is built on. It uses nothing but the port, and for the events, which the port
 * only writes, the way that the harness brings.
 */
export function conformance(name: string, { setup }: { setup: Setup }) {
  describe(name, () => {
    openContract(setup)
    lifeContract(setup)
    settleContract(setup)
    contentsContract(setup)
    deliveryContract(setup)
    readContract(setup)
    preferenceContract(setup)
    auditContract(setup)
    flowContract(setup)
    retentionContract(setup)
    retentionLimitContract(setup)
  })
}
