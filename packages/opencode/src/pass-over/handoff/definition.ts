import { z } from "zod"
import { AgentID } from "../domain/id"
import { leavesProject } from "../domain/log-directory"
import { InlineOverride } from "../domain/preference"
import { DurationMs } from "../domain/time"
import { AggregationRule } from "./aggregate"
import { Phase, PhaseOutput } from "./phase"

/** Ids and names become parts of file names and of expressions. */
export const StepID = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,59}$/, "An id has small letters, digits, dash and underscore, 60 at the most.")

/** Also the agents of the host may be called anything. */
const Agent = AgentID.trim()
  .min(1)
  .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]+$/u, "An agent's name is one line of text.")
  .refine((name) => !name.includes("{{"), "An agent is named as it is: nothing is filled in here.")
const Model = z
  .string()
  .min(1)
  .refine((name) => !name.includes("{{"), "A model is named as it is: nothing is filled in here.")
const Words = z.string().trim().min(1).max(20_000)
const Lines = z.array(Words).max(100)

export const StepBudget = z
  .strictObject({
    tokens: z.int().positive().describe("All tokens of the step's passes"),
    cost: z.number().positive().describe("In the currency of the provider"),
    input_tokens: z.int().positive().describe("The handoff's text that goes in"),
    output_tokens: z.int().positive().describe("The findings that come out"),
  })
  .partial()
export type StepBudget = z.infer<typeof StepBudget>

const Failing = z.enum(["ask", "continue", "stop"])

export const Critic = z.strictObject({
  agent: Agent,
  objective: Words,
  rounds: z.int().min(1).max(10).default(3).describe("The most rounds of work and review together"),
  success_criteria: Lines.optional(),
  constraints: Lines.optional(),
  policy: InlineOverride.optional(),
  model: Model.optional(),
})
export type Critic = z.infer<typeof Critic>

const named = {
  id: StepID,
  when: z.string().trim().min(1).max(2_000).optional().describe("A CEL condition; without it the step always runs"),
}

/** A piece of work for one agent. */
export const PassStep = z.strictObject({
  ...named,
  agent: Agent,
  objective: Words,
  phase: Phase.optional(),
  expected_output: PhaseOutput.optional(),
  deliverable: Words.optional(),
  success_criteria: Lines.optional(),
  constraints: Lines.optional(),
  takes: z
    .array(StepID)
    .max(50)
    .optional()
    .describe(
      "Earlier steps whose results go along; by default the nearest that was not left out, with what was said at gates behind it",
    ),
  files: z.array(Words).max(200).optional(),
  spec_path: Words.optional(),
  critic: Critic.optional(),
  detours: z.array(StepID).max(10).optional(),
  rounds: z.int().min(1).max(10).optional().describe("How often it may loop on its own recommendation"),
  advisory: z
    .boolean()
    .optional()
    .describe("What it finds is what it is for: its STOP or ESCALATE ends the step as not passed, and the run goes on"),
  budget: StepBudget.optional(),
  policy: InlineOverride.optional(),
  model: Model.optional(),
  timeout_ms: DurationMs.optional(),
  cache: z.boolean().optional(),
  on_failure: Failing.optional(),
})
export type PassStep = z.infer<typeof PassStep>

export const Branch = PassStep.omit({
  critic: true,
  detours: true,
  rounds: true,
  advisory: true,
  on_failure: true,
}).extend({
  weight: z.number().positive().optional(),
  on_failure: z
    .literal("continue", "a branch that fails is a vote against; what follows is for `on_failure` of the parallel step")
    .optional(),
})
export type Branch = z.infer<typeof Branch>

/** What a step may ask for in between. When it is made, with what, and what comes of it, is that step's. */
export const Detour = PassStep.pick({
  id: true,
  agent: true,
  objective: true,
  deliverable: true,
  success_criteria: true,
  constraints: true,
  files: true,
  policy: true,
  model: true,
  timeout_ms: true,
})
export type Detour = z.infer<typeof Detour>

/** Several pieces of work side by side, and when they have passed together. */
export const ParallelStep = z.strictObject({
  ...named,
  parallel: z.array(Branch).min(1).max(200),
  rule: AggregationRule.default("all"),
  on_failure: Failing.optional(),
})
export type ParallelStep = z.infer<typeof ParallelStep>

/** A person decides. */
export const GateStep = z.strictObject({
  ...named,
  gate: Words,
  items: Lines.min(1),
  options: z.strictObject({ approve: Words, reject: Words, question: Words }).partial().optional(),
  takes: z.array(StepID).max(50).optional(),
  on_reject: StepID.optional().describe(
    "The step that is done again; by default the nearest one before that was not left out",
  ),
})
export type GateStep = z.infer<typeof GateStep>

/** Another flow in the place of a step. */
export const FlowStep = z.strictObject({
  ...named,
  flow: StepID,
  with: z.record(z.string(), Words).optional(),
})
export type FlowStep = z.infer<typeof FlowStep>

export const Step = z.union([PassStep, ParallelStep, GateStep, FlowStep])
export type Step = z.infer<typeof Step>

/** The key that tells which kind of step it is. */
export const KINDS = { agent: PassStep, parallel: ParallelStep, gate: GateStep, flow: FlowStep } as const
export type StepKey = keyof typeof KINDS

export const FlowInput = z
  .strictObject({
    description: Words,
    default: z.string().max(20_000),
    required: z.boolean(),
  })
  .partial()
export type FlowInput = z.infer<typeof FlowInput>

export const FlowBudget = z
  .strictObject({
    tokens: z.int().positive(),
    cost: z.number().positive(),
    passes: z.int().positive(),
  })
  .partial()
export type FlowBudget = z.infer<typeof FlowBudget>

const plain = (path: string) => !path.includes("\\") && path.split("/").every((part) => part !== "" && part !== ".")

const Folder = z
  .string()
  .max(400)
  .refine((path) => plain(path) && leavesProject(path) === undefined, 'Name a folder below the project: "work/runs".')

const around = {
  $schema: z.string().optional(),
  name: StepID,
  description: Words.optional(),
  originator: Agent.optional().describe(
    "The agent in whose name the steps are passed; the one that starts it by default",
  ),
  inputs: z.record(z.string().regex(/^[a-z_][a-z0-9_]*$/i), FlowInput).optional(),
  feature: Words.optional().describe("What the flow works on, for its phases"),
  run_base: Folder.optional().describe("The folder of the runs' files; .opencode/runs by default"),
  archive: z
    .union([z.boolean(), Folder])
    .optional()
    .describe("Keep every handoff as YAML: under .project/07-audit/sessions, or in the folder named here"),
  budget: FlowBudget.optional(),
  policy: InlineOverride.optional(),
}

/** A flow as it is written in `.opencode/flows/*.yaml`. */
export const FlowDefinition = z.strictObject({
  ...around,
  steps: z.array(Step).min(1).max(2_000),
  detours: z.array(Detour).max(50).optional(),
})
export type FlowDefinition = z.infer<typeof FlowDefinition>

/** The same, with its steps still unread: each is read by its own kind, so that a fault names its own field. */
export const FlowOutline = z.strictObject({
  ...around,
  steps: z.array(z.unknown()).min(1).max(2_000),
  detours: z.array(z.unknown()).max(50).optional(),
})

export const isPass = (step: Step): step is PassStep => "agent" in step
export const isParallel = (step: Step): step is ParallelStep => "parallel" in step
export const isGate = (step: Step): step is GateStep => "gate" in step
export const isFlow = (step: Step): step is FlowStep => "flow" in step
