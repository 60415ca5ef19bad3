import { z } from "zod"
import { FlowDefinition } from "./definition"
import { Envelope } from "./envelope"
import { Acknowledgment, HandoffLog, HandoffPackage } from "./package"
import { PhaseRequest, PhaseResponse } from "./phase"

const TITLES = {
  flow: "A flow of Pass Over, .opencode/flows/*.yaml",
  "phase-request": "What a phase of a flow is asked",
  "phase-response": "What a phase of a flow answers",
  "handoff-package": "A package between two steps",
  "handoff-acknowledgment": "What a receiver says to a package",
  "handoff-log": "state/current.json of a run",
  "handoff-envelope": "What a step of a flow leaves",
} as const

const SCHEMAS: Record<keyof typeof TITLES, z.ZodType> = {
  flow: FlowDefinition,
  "phase-request": PhaseRequest,
  "phase-response": PhaseResponse,
  "handoff-package": HandoffPackage,
  "handoff-acknowledgment": Acknowledgment,
  "handoff-log": HandoffLog,
  "handoff-envelope": Envelope,
}

/** The published JSON Schemas of flows and of the three protocols, by file name. */
export const handoffSchemas = (): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(TITLES).map(([name, title]) => [
      `${name}.schema.json`,
      { title, ...z.toJSONSchema(SCHEMAS[name as keyof typeof TITLES], { io: "input", unrepresentable: "any" }) },
    ]),
  )
