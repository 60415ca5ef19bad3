import { z } from "zod"

const Text = z.string().max(200_000)
const Named = z.string().trim().min(1).max(20_000)

/** The phases of `002`: what a step is there for. */
export const Phase = z.enum(["research", "write", "validate", "parallel"])
export type Phase = z.infer<typeof Phase>

export const PhaseOutput = z.enum(["structured_findings", "files_changed", "validation_result", "aggregated_results"])
export type PhaseOutput = z.infer<typeof PhaseOutput>

/** What each phase leaves, where nobody says otherwise. */
export const OUTPUT_OF = {
  research: "structured_findings",
  write: "files_changed",
  validate: "validation_result",
  parallel: "aggregated_results",
} as const satisfies Record<Phase, PhaseOutput>

export const PhaseRequest = z.strictObject({
  task_id: z.string().trim().min(1).max(200),
  phase: Phase,
  context: z.strictObject({
    feature: z.string().trim().min(1).max(2_000),
    spec_path: z.string().min(1).nullish(),
    relevant_files: z.array(z.string().min(1)).max(1_000).optional(),
    constraints: z.array(Named).max(200).optional(),
    previous_findings: Text.nullish(),
  }),
  instructions: Named,
  expected_output: PhaseOutput,
})
export type PhaseRequest = z.infer<typeof PhaseRequest>

export const PhaseStatus = z.enum(["complete", "partial", "blocked"])
export type PhaseStatus = z.infer<typeof PhaseStatus>

export const PhaseDecision = z.enum(["PROCEED", "STOP", "CLARIFY"])
export type PhaseDecision = z.infer<typeof PhaseDecision>

export const ResearchFindings = z.strictObject({
  existing_implementations: z.array(
    z.strictObject({ file: z.string().min(1), description: Text, relevance: z.enum(["high", "medium", "low"]) }),
  ),
  conflicts: z.array(
    z.strictObject({
      type: z.enum(["naming", "pattern", "dependency"]),
      description: Text,
      severity: z.enum(["critical", "warning", "info"]),
    }),
  ),
  patterns_found: z.array(z.strictObject({ file: z.string().min(1), pattern: Text, recommendation: Text })),
  recommendations: z.array(Text),
})
export type ResearchFindings = z.infer<typeof ResearchFindings>

export const WriteFindings = z.strictObject({
  files_created: z.array(z.strictObject({ path: z.string().min(1), purpose: Text })),
  files_modified: z.array(z.strictObject({ path: z.string().min(1), changes: Text })),
  tests_written: z.array(
    z.strictObject({ path: z.string().min(1), test_count: z.int().nonnegative(), coverage_areas: z.array(Text) }),
  ),
  implementation_notes: z.array(Text),
})
export type WriteFindings = z.infer<typeof WriteFindings>

const Check = z.strictObject({ passed: z.boolean(), errors: z.array(Text), warnings: z.array(Text) })

/** Not every project has every check; the ones that were made are there, whole. */
export const ValidateFindings = z.strictObject({
  checks: z.strictObject({
    types: Check.optional(),
    lint: Check.optional(),
    tests: z
      .strictObject({
        passed: z.boolean(),
        total: z.int().nonnegative(),
        passed_count: z.int().nonnegative(),
        failed_count: z.int().nonnegative(),
        coverage: z.number().min(0).max(100).optional(),
        failures: z.array(Text),
      })
      .optional(),
    security: z.strictObject({ passed: z.boolean(), issues: z.array(Text) }).optional(),
  }),
  overall_passed: z.boolean(),
  blocking_issues: z.array(Text),
  warnings: z.array(Text),
})
export type ValidateFindings = z.infer<typeof ValidateFindings>

export const ParallelFindings = z.strictObject({
  results: z.array(
    z.strictObject({
      task_id: z.string().min(1),
      type: z.string().min(1),
      passed: z.boolean(),
      summary: Text,
      details: z.record(z.string(), z.unknown()),
    }),
  ),
  aggregation: z.strictObject({
    total: z.int().nonnegative(),
    passed: z.int().nonnegative(),
    failed: z.int().nonnegative(),
    rule: z.string().min(1),
    overall_passed: z.boolean(),
  }),
})
export type ParallelFindings = z.infer<typeof ParallelFindings>

/** One schema of findings for each phase. A phase without one does not compile. */
export const FINDINGS = {
  research: ResearchFindings,
  write: WriteFindings,
  validate: ValidateFindings,
  parallel: ParallelFindings,
} as const satisfies Record<Phase, z.ZodType>

export type Findings = { [P in Phase]: z.infer<(typeof FINDINGS)[P]> }

const common = {
  task_id: z.string().trim().min(1).max(200),
  status: PhaseStatus,
  decision: PhaseDecision,
  context_summary: z.string().trim().min(1).max(20_000),
  tokens_used: z.number().nonnegative().optional(),
  issues: z.array(Text).optional(),
}

const response = <P extends Phase>(phase: P) =>
  z.strictObject({ ...common, phase: z.literal(phase), findings: FINDINGS[phase] })

export const PhaseResponse = z.discriminatedUnion("phase", [
  response("research"),
  response("write"),
  response("validate"),
  response("parallel"),
])
export type PhaseResponse = z.infer<typeof PhaseResponse>

/** What a decision makes the engine do. */
export const ACTION = {
  PROCEED: "continue",
  STOP: "halt",
  CLARIFY: "ask",
} as const satisfies Record<PhaseDecision, string>

export type PhaseBudget = { input: number; output: number }

/** The upper ends of `002`'s table. It has no line for the parallel phase, which only collects. */
export const PHASE_BUDGET = {
  research: { input: 500, output: 1_000 },
  write: { input: 1_000, output: 1_500 },
  validate: { input: 500, output: 800 },
  parallel: { input: 1_000, output: 1_500 },
} as const satisfies Record<Phase, PhaseBudget>
