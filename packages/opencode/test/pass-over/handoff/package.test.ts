import { describe, expect, test } from "bun:test"
import { parse } from "yaml"
import {
  Acknowledgment,
  HandoffDraft,
  HandoffLog,
  HandoffPackage,
  kindOf,
  packageID,
  unclear,
} from "../../../src/pass-over/handoff/package"
import { packageProblems } from "../../../src/pass-over/handoff/package-rule"
import { clear, measurable, vague } from "../../../src/pass-over/handoff/text"

const count = (text: string) => Math.ceil(text.length / 4)

const FULL = `
handoff:
  id: "HO-2024-001"
  timestamp: "2024-01-15T14:30:00Z"
  from:
    agent: "specification"
    step: "specify"
  to:
    agent: "architecture"
    reason: "it designs what was specified"
  context:
    summary: |
      The login was specified: 3 epics with 12 user stories. The client has signed them.
    decisions:
      - id: "D-001"
        decision: "JWT with refresh tokens"
        rationale: "the mobile client keeps no session"
    artifacts:
      - path: ".project/02-requirements/epics/EP-001.md"
        type: "spec"
        description: "the login epic"
    open_questions:
      - question: "Which provider signs the tokens?"
        priority: "high"
        context: "two are in the contract"
  expectations:
    deliverable: "An architecture of the login"
    constraints:
      - "No new database"
    success_criteria:
      - "Every story names its component"
  workflow_state:
    name: "login"
    current_step: 2
    completed_steps: ["discover", "specify"]
    remaining_steps: ["design", "build"]
`
const SEQUENTIAL = `
handoff:
  from:
    agent: specification
    step: 2
  to:
    agent: architecture
    reason: "Specs validated, moving to design"
  context:
    summary: "User stories defined and validated by client"
    artifacts:
      - path: ".project/02-requirements/user-stories/US-001.md"
`
const DELEGATION = `
handoff:
  from:
    agent: architecture
    step: 3
  to:
    agent: security-check
    reason: "Need security validation before finalization"
  expectations:
    deliverable: "Risk report on proposed architecture"
    constraints:
      - "Focus on authentication and sensitive data"
    success_criteria:
      - "No unaddressed critical risks"
  context:
    summary: "API architecture defined, needs security review"
`
const ESCALATION = `
handoff:
  from:
    agent: estimation
    step: 2
  to:
    agent: human
    reason: "Business decision required"
  context:
    summary: "Two possible approaches with significant trade-offs"
    decisions:
      - id: "pending"
        decision: "Choice between approach A (fast, debt) or B (robust, long)"
        rationale: "Depends on business priority"
    open_questions:
      - question: "What is the priority: time-to-market or maintainability?"
        priority: high
  expectations:
    deliverable: "Validated choice with justification"
`
const RETURN = `
handoff:
  from:
    agent: security-check
    step: null  # Not in main workflow
  to:
    agent: architecture
    reason: "Security review completed"
  context:
    summary: "2 risks identified, recommendations provided"
    artifacts:
      - path: ".project/05-quality/security/review-2024-01.md"
    decisions:
      - id: "SEC-001"
        decision: "JWT with refresh token rotation"
        rationale: "Security/UX balance"
`
const GATE = `
handoff:
  from:
    agent: "architecture"
  to:
    agent: human
    reason: "BLOCKING gate reached"
  gate:
    type: blocking
    name: "architecture review"
    step: "design"
  context:
    summary: "The login's architecture stands in 3 diagrams"
    artifacts: []
  validation_request:
    items:
      - "the token's lifetime"
      - "where sessions end"
    options:
      approve: "Continue with next step"
      reject: "Adjustments required"
      question: "Clarification needed"
`

const draft = (text: string) => HandoffDraft.parse(parse(text))
const problems = (text: string, exists: (path: string) => boolean = () => true, created?: string[]) =>
  packageProblems(draft(text), { exists, count, ...(created ? { created } : {}) }).map(({ message }) => message)

describe("the examples of the document", () => {
  test("the whole structure is taken", () => {
    expect(HandoffPackage.safeParse(parse(FULL)).success).toBe(true)
    expect(problems(FULL)).toEqual([])
  })

  const KINDS = { sequential: SEQUENTIAL, delegation: DELEGATION, escalation: ESCALATION, return: RETURN } as const
  for (const [kind, text] of Object.entries(KINDS)) {
    test(`the ${kind} is one, and is in order`, () => {
      expect(kindOf(draft(text))).toBe(kind as keyof typeof KINDS)
      expect(problems(text)).toEqual([])
      // Its number and its time are ours to give; without them it is a draft and no package.
      expect(HandoffPackage.safeParse(parse(text)).success).toBe(false)
    })
  }

  test("the gate is an escalation with a request for validation", () => {
    expect(kindOf(draft(GATE))).toBe("escalation")
    expect(problems(GATE)).toEqual([])
    expect(problems(GATE.replace(/ {2}validation_request:[\s\S]*$/, ""))).toContain(
      "a gate says what is to be validated",
    )
  })

  test("the forbidden context is refused and the required one taken", () => {
    expect(vague("It's done")).toBe(true)
    expect(vague("Specifications completed: 3 epics, 12 user stories, personas defined")).toBe(false)
    expect(problems(SEQUENTIAL.replace("User stories defined and validated by client", "It's done"))).toEqual([
      '"It\'s done" says nothing; say what was done and what is there now',
    ])
  })

  test("the bad criterion is refused and the good ones taken", () => {
    expect(measurable("Write good code")).toBe(false)
    for (const good of [
      "Unit tests > 80% coverage",
      "No OWASP Top 10 vulnerabilities",
      "Build passes in CI",
      "No unaddressed critical risks",
    ])
      expect(measurable(good)).toBe(true)
    expect(problems(DELEGATION.replace("No unaddressed critical risks", "Write good code"))).toEqual([
      '"Write good code" cannot be measured; say what is counted or what must pass',
    ])
  })

  test("the acknowledgement is taken, and the problem that it signals is understood", () => {
    const well = {
      received: true,
      from: "specification",
      understood: { task: "design the login", constraints: "no new database" },
      questions: [],
      starting: true,
    }
    expect(unclear(Acknowledgment.parse(well))).toEqual([])
    const badly = {
      received: true,
      understood: "partial",
      blockers: ["Artifact .project/specs/feature.md not found", "Constraint 'quickly' not measurable"],
      action: "request_clarification",
    }
    expect(unclear(Acknowledgment.parse(badly))).toEqual(badly.blockers)
    expect(Acknowledgment.safeParse({ ...well, received: false }).success).toBe(false)
  })

  test("the log is taken", () => {
    const entry = {
      id: "HO-001",
      timestamp: "2024-01-15T14:30:00Z",
      from: "specification",
      to: "architecture",
      status: "completed",
    }
    expect(HandoffLog.safeParse({ handoffs: [entry] }).success).toBe(true)
    expect(HandoffLog.safeParse({ handoffs: [{ ...entry, status: "perhaps" }] }).success).toBe(false)
  })
})

describe("the rules", () => {
  test("an artifact that is not there is refused by name, in the words of the document", () => {
    expect(problems(SEQUENTIAL, () => false)).toEqual([
      "Artifact .project/02-requirements/user-stories/US-001.md not found",
    ])
  })

  test("a created file that is not named is refused; a folder names what is in it", () => {
    expect(problems(SEQUENTIAL, () => true, ["src/a.ts"])).toEqual(["src/a.ts was created and is not named"])
    const folder = SEQUENTIAL.replace("user-stories/US-001.md", "user-stories/")
    expect(problems(folder, () => true, [".project/02-requirements/user-stories/US-002.md"])).toEqual([])
  })

  test("a constraint that is a matter of opinion goes back as the document words it", () => {
    const text = DELEGATION.replace("Focus on authentication and sensitive data", "quickly")
    const found = packageProblems(draft(text), { exists: () => true, count })
    expect(found.map(({ message }) => message)).toEqual(["Constraint 'quickly' not measurable"])
    expect(clear("answers within 200 ms, so quickly")).toBe(true)
  })

  test("a delegation says what it wants back and by what it is judged", () => {
    expect(problems(DELEGATION.replace(/ {4}success_criteria:\n.*\n/, ""))).toEqual(["say by what it will be judged"])
    expect(problems(DELEGATION.replace(/ {4}deliverable:.*\n/, ""))).toEqual(["say what is expected back"])
  })

  test("an escalation asks a person something", () => {
    expect(problems(ESCALATION.replace(/ {4}open_questions:\n.*\n.*\n/, ""))).toEqual([
      "a person has to be asked something",
    ])
  })

  test("a summary of more than 500 tokens is refused", () => {
    expect(problems(SEQUENTIAL.replace("by client", "by client ".repeat(300)))[0]).toMatch(/tokens, where 500/)
  })

  test("nothing that the document does not know is taken", () => {
    expect(HandoffDraft.safeParse(parse(`${SEQUENTIAL}  mood: good\n`)).success).toBe(false)
    expect(packageID(7)).toBe("HO-007")
    expect(packageID(1_234)).toBe("HO-1234")
  })
})
