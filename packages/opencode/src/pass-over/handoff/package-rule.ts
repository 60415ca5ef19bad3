import { SUMMARY_TOKENS } from "./phase-rule"
import { kindOf, type Handoff, type HandoffDraft, type PackageKind } from "./package"
import { clear, measurable, problem, vague, type Count, type Problem } from "./text"

export type Receiving = {
  /** Whether a path that a package names is there. */
  exists: (path: string) => boolean
  count: Count
  /** Files that were made for it and have to be named. */
  created?: readonly string[]
}

const criteria = (lines: readonly string[] = []) =>
  lines.flatMap((line, index) =>
    measurable(line)
      ? []
      : [
          problem(
            `expectations.success_criteria[${index}]`,
            `"${line}" cannot be measured; say what is counted or what must pass`,
          ),
        ],
  )

const constraints = (lines: readonly string[] = []) =>
  lines.flatMap((line, index) =>
    clear(line) ? [] : [problem(`expectations.constraints[${index}]`, `Constraint '${line}' not measurable`)],
  )

const named = (path: string, listed: readonly string[]) =>
  listed.some((known) => known === path || (known.endsWith("/") && path.startsWith(known)))

function artifacts({ context }: Pick<Handoff, "context">, { exists, created = [] }: Receiving): Problem[] {
  const listed = (context.artifacts ?? []).map(({ path }) => path)
  return [
    ...listed.flatMap((path, index) =>
      exists(path) ? [] : [problem(`context.artifacts[${index}].path`, `Artifact ${path} not found`)],
    ),
    ...created
      .filter((path) => !named(path, listed))
      .map((path) => problem("context.artifacts", `${path} was created and is not named`)),
  ]
}

type Parts = HandoffDraft["handoff"]

// What each kind cannot do without.
const NEEDS = {
  sequential: () => [],
  return: () => [],
  delegation: ({ expectations }) => [
    ...(expectations?.deliverable ? [] : [problem("expectations.deliverable", "say what is expected back")]),
    ...((expectations?.success_criteria ?? []).length > 0
      ? []
      : [problem("expectations.success_criteria", "say by what it will be judged")]),
  ],
  escalation: ({ context, validation_request, gate }) => {
    const asks = (context.open_questions ?? []).length > 0 || validation_request !== undefined
    return [
      ...(asks ? [] : [problem("context.open_questions", "a person has to be asked something")]),
      ...(gate && !validation_request ? [problem("validation_request", "a gate says what is to be validated")] : []),
    ]
  },
} as const satisfies Record<PackageKind, (handoff: Parts) => Problem[]>

/** Everything that a receiver would have to send a package back for; nothing where it may begin. */
export function packageProblems(draft: HandoffDraft, receiving: Receiving): Problem[] {
  const { handoff } = draft
  const tokens = receiving.count(handoff.context.summary)
  return [
    ...(vague(handoff.context.summary)
      ? [
          problem(
            "context.summary",
            `"${handoff.context.summary}" says nothing; say what was done and what is there now`,
          ),
        ]
      : []),
    ...(tokens > SUMMARY_TOKENS
      ? [problem("context.summary", `${tokens} tokens, where ${SUMMARY_TOKENS} are the most`)]
      : []),
    ...artifacts(handoff, receiving),
    ...criteria(handoff.expectations?.success_criteria),
    ...constraints(handoff.expectations?.constraints),
    ...NEEDS[kindOf(draft)](handoff),
  ]
}
