import { describe, expect, test } from "bun:test"
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { SHIPPED_FLOWS } from "../../../src/flow/shipped"
import { diagramMermaid, diagramText } from "../../../src/pass-over/handoff/diagram"
import { readCatalog } from "../../../src/pass-over/handoff/catalog"
import { expressionFault, fill, holds, stepsIn } from "../../../src/pass-over/handoff/expression"
import { inputsOf, planFlow } from "../../../src/pass-over/handoff/plan"
import { parseFlow } from "../../../src/pass-over/handoff/source"
import { definitions, planned } from "../support/flow"

const faults = (text: string) => {
  const parsed = parseFlow(text)
  return parsed.ok ? [] : parsed.faults.map(({ line, column, message }) => `${line}:${column} ${message}`)
}

const HEAD = "name: x\ninputs:\n  goal: {}\nsteps:\n"
const STEP = "  - id: a\n    agent: scout\n    objective: Find it\n"

describe("a definition", () => {
  test("is read from YAML and from JSON alike", () => {
    const yaml = parseFlow(`${HEAD}${STEP}`)
    const json = parseFlow(
      '{"name":"x","inputs":{"goal":{}},"steps":[{"id":"a","agent":"scout","objective":"Find it"}]}',
    )
    expect(yaml).toEqual(json)
    expect(yaml.ok).toBe(true)
  })

  const TABLE: [string, string, string[]][] = [
    [
      "an unknown field, with what was meant",
      `${HEAD}${STEP}    objektive: y\n`,
      ['8:5 steps.0.objektive: "objektive" is not known here. Did you mean "objective"?'],
    ],
    [
      "an unknown field of the flow",
      `nam: x\n${HEAD}${STEP}`,
      ['1:1 nam: "nam" is not known here. Did you mean "name"?'],
    ],
    [
      "a step that is nothing",
      `${HEAD}  - id: a\n    agen: scout\n`,
      ['5:5 steps.0: a step needs one of: agent, parallel, gate, flow. Did you mean "agent"?'],
    ],
    [
      "a step that is two things",
      `${HEAD}${STEP}    gate: y\n`,
      ["5:5 steps.0: a step is one thing: agent and gate do not go together"],
    ],
    [
      "a phase that there is not",
      `${HEAD}${STEP}    phase: deploy\n`,
      ["8:12 steps.0.phase: must be one of research, write, validate, parallel"],
    ],
    ["an id twice", `${HEAD}${STEP}${STEP}`, ['8:9 steps.1.id: the id "a" is there twice']],
    [
      "a criterion that cannot be measured",
      `${HEAD}${STEP}    success_criteria: ["Write good code"]\n`,
      ['8:24 steps.0.success_criteria.0: "Write good code" cannot be measured; say what is counted or what must pass'],
    ],
    [
      "a step that comes later",
      `${HEAD}${STEP}    takes: [b]\n${STEP.replace("id: a", "id: b")}`,
      ['8:13 steps.0.takes.0: there is no earlier step "b" here.'],
    ],
    [
      "a detour that there is not",
      `${HEAD}${STEP}    detours: [c]\n`,
      ['8:15 steps.0.detours.0: there is no detour "c".'],
    ],
    [
      "a rule that can never pass",
      `${HEAD}  - id: p\n    rule: { quorum: 3 }\n    parallel:\n      - { id: a, agent: scout, objective: Look }\n`,
      ["6:11 steps.0.rule: a quorum of 3 cannot be reached by 1 branches"],
    ],
    [
      "a condition over a step that comes later",
      `${HEAD}${STEP}    when: steps.later.passed\n`,
      ['8:11 steps.0.when: there is no earlier step "later" here.'],
    ],
    [
      "a condition over a field that there is not",
      `${HEAD}${STEP}${STEP.replace("id: a", "id: b")}    when: steps.a.pased\n`,
      ['11:11 steps.1.when: there is no field of a step "pased" here. Did you mean "passed"?'],
    ],
    [
      "a condition that is no yes or no",
      `${HEAD}${STEP}    when: 1 + 1\n`,
      ["8:11 steps.0.when: it gives int, where a yes or no is wanted"],
    ],
    [
      "a condition that is not one",
      `${HEAD}${STEP}    when: "inputs.goal =="\n`,
      ["8:26 steps.0.when: Unexpected token: EOF"],
    ],
    [
      "an input that there is not",
      `${HEAD}${STEP.replace("Find it", '"Find {{ inputs.gol }}"')}`,
      ['7:22 steps.0.objective: {{ inputs.gol }}: there is no input "gol" here. Did you mean "goal"?'],
    ],
    [
      "a hole without an end",
      `${HEAD}${STEP.replace("Find it", '"Find {{ inputs.goal }} and {{ inputs.goal }"')}`,
      ["7:44 steps.0.objective: what begins here with {{ has no }} behind it"],
    ],
    [
      "an earlier step in the words of a task",
      `${HEAD}${STEP}${STEP.replace("id: a", "id: b").replace("Find it", '"Do {{ steps.a.summary }}"')}`,
      [
        "10:20 steps.1.objective: {{ steps.a.summary }}: what earlier steps left goes along as data (takes), never into the words of a task",
      ],
    ],
    [
      "text that is not YAML",
      "name: [x\n",
      [
        "2:1 Flow sequence in block collection must be sufficiently indented and end with a ]",
        "2:1 Expected flow sequence to end with ]",
      ].slice(0, 2),
    ],
    ["a key twice", `name: x\nname: y\n`, ["2:1 Map keys must be unique"]],
    [
      "rounds beside a critic",
      `${HEAD}${STEP}    rounds: 2\n    critic: { agent: audit, objective: Review }\n`,
      ["8:5 steps.0.rounds: a step with a critic makes as many rounds as its critic has; write it there"],
    ],
    [
      "what only a phase knows",
      `${HEAD}${STEP}    spec_path: a.md\n    budget: { output_tokens: 5 }\n  - id: p\n    parallel:\n      - { id: q, agent: audit, objective: x, spec_path: a.md }\n`,
      [
        "8:5 steps.0.spec_path: only a phase is told of a spec; give the step a `phase`, or name it in `files`",
        "9:15 steps.0.budget.output_tokens: only a phase has findings to be measured; give the step a `phase`",
        "12:46 steps.1.parallel.0.spec_path: only a phase is told of a spec; give the step a `phase`, or name it in `files`",
      ],
    ],
    [
      "a weight that nobody weighs",
      `${HEAD}  - id: p\n    rule: any\n    parallel:\n      - { id: a, agent: scout, objective: Look, weight: 3 }\n`,
      ["8:49 steps.0.parallel.0.weight: a weight counts only where the rule is `{ weighted: n }`"],
    ],
    [
      "two detours of one name",
      `${HEAD}${STEP}detours:\n  - { id: d, agent: scout, objective: A }\n  - { id: d, agent: audit, objective: B }\n`,
      ['10:11 detours.1.id: the id "d" is there twice'],
    ],
    [
      "an agent and a model to be filled in",
      `${HEAD}  - { id: a, agent: "{{ inputs.goal }}", objective: x, model: "{{ inputs.goal }}", critic: { agent: b, objective: x, model: "{{ x }}" } }\n`,
      [
        "5:21 steps.0.agent: An agent is named as it is: nothing is filled in here.",
        "5:63 steps.0.model: A model is named as it is: nothing is filled in here.",
        "5:125 steps.0.critic.model: A model is named as it is: nothing is filled in here.",
      ],
    ],
    [
      "a folder outside of the project",
      `${HEAD}${STEP}run_base: ../runs\n`,
      ['8:11 run_base: Name a folder below the project: "work/runs".'],
    ],
    ["nothing", "", ["1:1 a flow has a name and a list of steps"]],
  ]
  for (const [name, text, expected] of TABLE) {
    test(`with ${name} is refused at its place`, () => {
      if (name === "text that is not YAML") expect(faults(text).length).toBeGreaterThan(0)
      if (name !== "text that is not YAML") expect(faults(text)).toEqual(expected)
    })
  }

  test("that is hostile is refused and never hangs or throws", () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n`
    for (const text of [
      bomb,
      "[".repeat(20_000),
      "{".repeat(5_000),
      "\u0000",
      "x".repeat(2_000_000),
      "- ".repeat(10_000),
      "__proto__: { name: x }\n",
      "!!js/function 'x'",
    ])
      expect(faults(text).length).toBeGreaterThan(0)
    expect(({} as Record<string, unknown>)["name"]).toBeUndefined()
  })
})

describe("an expression", () => {
  const scope = { inputs: ["goal"], steps: ["a"] }
  const values = {
    inputs: { goal: "total" },
    steps: { a: { passed: true, rounds: 2, summary: "x", concerns: { high: 1 }, files: ["a.ts"] } },
    flow: { name: "x" },
    round: 1,
  }

  test("says yes or no about what earlier steps left", () => {
    const yes = [
      "steps.a.passed",
      "steps.a.rounds + 1 == 3",
      "steps.a.concerns.high > 0 && inputs.goal == 'total'",
      'steps.a.files.exists(f, f.endsWith(".ts"))',
      "has(steps.a.summary)",
    ]
    for (const text of yes) {
      expect(expressionFault(text, scope, "bool")).toBeUndefined()
      expect(holds(text, values)).toEqual({ ok: true, value: true })
    }
    expect(holds("steps.b.passed", values)).toMatchObject({ ok: false })
    expect(holds("inputs.goal", values)).toMatchObject({ ok: false })
  })

  test("reckons with what a step left as with any number, whole or not", () => {
    const left = { tokens: 110, cost: 1, rounds: 2, files: ["a", "b"], concerns: { high: 1 } }
    const yes = [
      "steps.a.tokens * 1.5 > 10.0",
      "steps.a.tokens / 4 == 27.5",
      "steps.a.cost / 2 > 0.4",
      "steps.a.tokens % 2 == 0",
      "1.0 + steps.a.rounds == 3",
      "steps.a.rounds - 1 == steps.a.concerns.high",
      "steps.a.files[steps.a.rounds - 1] == 'b'",
      "size(steps.a.files) == steps.a.rounds",
      "steps.a.rounds in [1, 2]",
      "round * 1.5 == 1.5 && round + 1 == 2",
    ]
    for (const text of yes) {
      expect(expressionFault(text, scope, "bool")).toBeUndefined()
      expect(holds(text, { ...values, steps: { a: left } })).toEqual({ ok: true, value: true })
    }
  })

  test("names the steps that it looks at, where that can be told", () => {
    expect(stepsIn('steps.a.passed && steps["b"].rounds > 1 && inputs.goal == "x"')).toEqual(["a", "b"])
    expect(stepsIn("inputs.goal == 'x'")).toEqual([])
    expect(stepsIn("steps[inputs.goal].passed")).toBeUndefined()
    expect(stepsIn("steps.exists(id, id == 'a')")).toBeUndefined()
  })

  test("that asks whether an input was given is told how: one that was not is empty", () => {
    expect(expressionFault("has(inputs.goal)", scope, "bool")?.message).toBe(
      'an input that is not given is empty; ask inputs.goal != ""',
    )
  })

  test("reaches nothing but its values", () => {
    for (const text of [
      "process.exit()",
      "globalThis",
      "steps.constructor",
      "inputs.__proto__",
      "steps.a.constructor",
      "require('fs')",
    ])
      expect(expressionFault(text, scope, "any")).toBeDefined()
    expect(holds("steps.a.constructor.name == 'x'", values)).toMatchObject({ ok: false })
  })

  test("that could take long is refused when it is read", () => {
    expect(expressionFault('inputs.goal.matches("(a+)+$")', scope, "any")?.message).toContain("matches()")
    expect(expressionFault("steps.a.files.all(x, steps.a.files.all(y, x == y))", scope, "any")?.message).toContain(
      "inside another",
    )
    expect(expressionFault("1 + ".repeat(400) + "1", scope, "any")).toBeDefined()
    expect(expressionFault("(".repeat(100) + "1" + ")".repeat(100), scope, "any")).toBeDefined()
    expect(expressionFault("'x'".repeat(1_000), scope, "any")?.message).toContain("2000")
  })

  test("fills a template, and a value never becomes a template itself", () => {
    expect(fill("{{ inputs.goal }} of {{ flow.name }}, round {{ round }}", values)).toBe("total of x, round 1")
    expect(fill("{{ inputs.goal }}", { ...values, inputs: { goal: "{{ flow.name }}" } })).toBe("{{ flow.name }}")
  })

  test("brings no more than a text of a flow may have: flows that hand on twice what they were given have an end", () => {
    const goal = "x".repeat(150_000)
    const filled = fill("{{ inputs.goal }}, {{ inputs.goal }}{{ inputs.goal }}", { ...values, inputs: { goal } })
    expect(filled.length).toBe(200_002)
  })
})

describe("flows in flows", () => {
  const OUTER = `name: outer\ninputs: { what: {} }\nsteps:\n  - { id: sub, flow: inner, with: { goal: "the {{ inputs.what }}" } }\n  - { id: last, agent: scout, objective: End, takes: [sub], when: steps.sub.passed }\n`
  const INNER = `name: inner\ninputs: { goal: {}, more: { default: "x" } }\nsteps:\n  - { id: a, agent: scout, objective: "Do {{ inputs.goal }}" }\n  - { id: b, agent: audit, objective: Look, when: steps.a.passed }\n`

  const plan = (...texts: string[]) => {
    const flows = new Map([...definitions(...texts)].map(([name, { flow }]) => [name, flow]))
    return planFlow([...flows.values()][0]!, flows)
  }

  test("a sub-flow stands in the place of its step, with its own inputs and names", () => {
    const made = plan(OUTER, INNER)
    if (!made.ok) throw new Error(made.message)
    expect(made.plan.nodes.map(({ id }) => id)).toEqual(["sub.a", "sub.b", "last"])
    expect(made.plan.nodes[2]).toMatchObject({ takes: ["sub"] })
    expect(inputsOf(made.plan, 1, { what: "total" })).toEqual({ goal: "the total", more: "x" })
  })

  test("a circle, an unknown flow and a missing input are refused by name", () => {
    const circle = INNER.replace(
      "{ id: b, agent: audit, objective: Look, when: steps.a.passed }",
      '{ id: c, flow: outer, with: { what: "x" } }',
    )
    expect(plan(OUTER, circle)).toMatchObject({
      ok: false,
      message: 'the flow "outer" contains itself: outer > inner > outer',
    })
    expect(plan(OUTER.replace("flow: inner", "flow: iner"), INNER)).toMatchObject({
      ok: false,
      message: 'there is no flow "iner". Did you mean "inner"?',
    })
    expect(plan(OUTER.replace(', with: { goal: "the {{ inputs.what }}" }', ""), INNER)).toMatchObject({
      ok: false,
      message: 'the flow "inner" also needs: goal',
    })
  })

  test("flows that double at each level are stopped", () => {
    const doubling = Array.from(
      { length: 20 },
      (_, level) => `name: f${level}\nsteps:\n  - { id: a, flow: f${level + 1} }\n  - { id: b, flow: f${level + 1} }\n`,
    )
    const made = plan(...doubling, `name: f20\nsteps:\n  - { id: a, agent: scout, objective: x }\n`)
    expect(made).toMatchObject({ ok: false, message: "the flow has more than 5000 steps" })
  })
})

describe("the catalog", () => {
  test("every flow that is shipped is in order, and drawn", () => {
    const texts = Object.entries(SHIPPED_FLOWS).map(([name, text]) => ({ path: `${name}.yaml`, text }))
    const { flows, faults: wrong } = readCatalog(texts)
    expect(wrong).toEqual([])
    expect([...flows.keys()]).toEqual(["review", "feature", "bugfix", "council"])
  })

  test("a file of the project takes the place of ours, and a broken one is named with its place", () => {
    const { flows, faults: wrong } = readCatalog([
      { path: "(shipped)/a.yaml", text: `name: a\nsteps:\n${STEP}` },
      { path: "x/a.yaml", text: `name: a\ndescription: mine\nsteps:\n${STEP}` },
      { path: "x/b.yaml", text: "name: c\nsteps:\n  - { id: a, agent: scout, objective: x }\n" },
      { path: "x/d.yaml", text: "steps: 1" },
    ])
    expect(flows.get("a")?.flow.description).toBe("mine")
    expect(wrong.map(({ path }) => path)).toEqual(["x/b.yaml", "x/d.yaml"])
    expect(wrong[1]?.lines[0]).toMatch(/^x\/d\.yaml:\d+:\d+ /)
  })
})

const DOCS = join(import.meta.dir, "../../../../../docs")

test("the flows of the documents and of the examples are in order", () => {
  const shown = /^```yaml\n([\s\S]*?)^```/m.exec(readFileSync(join(DOCS, "flows.md"), "utf8"))?.[1] ?? ""
  const examples = readdirSync(join(DOCS, "example/flows"))
  expect(examples.length).toBeGreaterThan(2)
  const texts = examples.map((name) => ({ path: name, text: readFileSync(join(DOCS, "example/flows", name), "utf8") }))
  expect(readCatalog([...texts, { path: "release.yaml", text: shown }]).faults).toEqual([])
})

describe("a diagram", () => {
  const plan = planned(
    `name: x\nsteps:\n${STEP}  - { id: g, gate: 'say "yes" <b>', items: [ok] }\n  - id: p\n    parallel:\n      - { id: q, agent: audit, objective: x }\n`,
  )

  test("is text that names every step and its agent", () => {
    expect(diagramText(plan)).toBe(
      'x\n  · a (scout)\n  · g (a person: say "yes" <b>)\n  · p (1 side by side)\n    · p.q (audit)',
    )
  })

  test("is a Mermaid flowchart in which a file's words cannot become anything else", () => {
    const drawn = diagramMermaid(plan)
    expect(drawn).toStartWith("flowchart TD\n")
    expect(drawn).not.toContain("<b>")
    expect(drawn).toContain("say #34;yes#34; #60;b#62;")
  })
})
