import { describe, expect, test } from "bun:test"
import { readCatalog } from "../../../src/pass-over/handoff/catalog"
import { parseFlow } from "../../../src/pass-over/handoff/source"
import { planOf } from "../../../src/pass-over/service/flow-plan"

const OURS = {
  path: "(shipped)/feature.yaml",
  text: "name: feature\nsteps:\n  - { id: a, agent: scout, objective: Look }\n",
}
const USES = { path: "x/uses.yaml", text: "name: uses\nsteps:\n  - { id: sub, flow: feature }\n" }

describe("a file of the project that is not in order", () => {
  const MINE = { path: "x/feature.yaml", text: OURS.text.replace("objective", "objektive") }

  test("takes the place of ours all the same: nothing runs in its stead, and the fault is told with its line", () => {
    const catalog = readCatalog([OURS, MINE, USES])
    expect(catalog.flows.has("feature")).toBe(false)
    expect(planOf(catalog, "feature")).toMatchObject({
      ok: false,
      refusal: {
        code: "E030",
        message: expect.stringContaining(
          'x/feature.yaml:3:28 steps.0.objektive: "objektive" is not known here. Did you mean "objective"?',
        ),
      },
    })
    expect(planOf(catalog, "uses")).toMatchObject({
      ok: false,
      refusal: { message: 'x/uses.yaml:3:22 steps.0.flow: the flow "feature" is not in order itself' },
    })
  })

  test("is meant by the name in it too, where its file is called otherwise", () => {
    const catalog = readCatalog([OURS, { path: "x/featur.yaml", text: OURS.text }])
    for (const name of ["feature", "featur"])
      expect(planOf(catalog, name)).toMatchObject({
        ok: false,
        refusal: { message: 'x/featur.yaml:1:1 name: it is "feature", and its file is "featur"' },
      })
  })
})

test("two files of a folder that stand for the same flow are both refused, and neither runs", () => {
  const json = { path: "x/feature.json", text: '{"name":"feature","steps":[]}' }
  const texts = [OURS, json, { path: "x/feature.yaml", text: OURS.text }]
  for (const order of [texts, texts.toReversed()]) {
    const catalog = readCatalog([...order, USES])
    expect(catalog.faults.flatMap(({ lines }) => lines).toSorted()).toEqual([
      'x/feature.json:1:1 feature.yaml stands for the flow "feature" as well; keep one of them',
      'x/feature.yaml:1:1 feature.json stands for the flow "feature" as well; keep one of them',
      'x/uses.yaml:3:22 steps.0.flow: the flow "feature" is not in order itself',
    ])
    expect(planOf(catalog, "feature").ok).toBe(false)
  }
})

describe("how a flow calls another is checked with its line", () => {
  const INNER = "name: inner\ninputs: { goal: {} }\nsteps:\n  - { id: a, agent: scout, objective: Look }\n"
  const lines = (step: string, inner = INNER) =>
    readCatalog([
      { path: "inner.yaml", text: inner },
      {
        path: "outer.yaml",
        text: `name: outer\nsteps:\n  - id: first\n    agent: scout\n    objective: Look\n  - ${step}\n`,
      },
    ]).faults.flatMap((fault) => fault.lines)

  test("an input that it has not, and one that is missing", () => {
    expect(lines("{ id: sub, flow: inner, with: { gol: x } }")).toEqual([
      'outer.yaml:6:22 steps.1.flow: the flow "inner" also needs: goal; give it in `with`',
      'outer.yaml:6:37 steps.1.with.gol: the flow "inner" has no input "gol". Did you mean "goal"?',
    ])
  })

  test("a flow that there is not, and one that contains itself", () => {
    expect(lines("{ id: sub, flow: iner, with: { goal: x } }")).toEqual([
      'outer.yaml:6:22 steps.1.flow: there is no flow "iner". Did you mean "inner"?',
    ])
    const circle = `${INNER}  - { id: b, flow: outer }\n`
    expect(lines("{ id: sub, flow: inner, with: { goal: x } }", circle)).toEqual([
      'inner.yaml:5:5 steps.1: the flow "inner" contains itself: inner > outer > inner',
      'outer.yaml:6:5 steps.1: the flow "outer" contains itself: outer > inner > outer',
    ])
  })

  test("a flow that is not in order makes those that call it not in order, however far above it they are", () => {
    const calls = (name: string, flow: string, more = "") => ({
      path: `${name}.yaml`,
      text: `name: ${name}\nsteps:\n  - { id: sub, flow: ${flow}${more} }\n`,
    })
    const catalog = readCatalog([
      calls("top", "middle"),
      calls("middle", "low"),
      calls("low", "inner", ", with: { gol: x }"),
      calls("beside", "inner", ", with: { goal: x }"),
      { path: "inner.yaml", text: INNER },
    ])
    expect(catalog.faults.flatMap((fault) => fault.lines)).toEqual([
      'low.yaml:3:22 steps.0.flow: the flow "inner" also needs: goal; give it in `with`',
      'low.yaml:3:37 steps.0.with.gol: the flow "inner" has no input "gol". Did you mean "goal"?',
      'middle.yaml:3:22 steps.0.flow: the flow "low" is not in order itself',
      'top.yaml:3:22 steps.0.flow: the flow "middle" is not in order itself',
    ])
    expect(planOf(catalog, "top")).toMatchObject({
      ok: false,
      refusal: {
        message: 'top.yaml:3:22 steps.0.flow: the flow "middle" is not in order itself',
        suggestion: "Correct the file; pass-over flow validate shows all faults.",
      },
    })
    expect(planOf(catalog, "beside").ok).toBe(true)
  })

  test("one that passes in another agent's name", () => {
    expect(lines("{ id: sub, flow: inner, with: { goal: x } }", `originator: bob\n${INNER}`)).toEqual([
      'outer.yaml:6:22 steps.1.flow: the flow "inner" passes in the name of bob, and all steps of a run pass in one name; give this flow `originator: bob`',
    ])
  })
})

describe("what would be without effect is refused with its line", () => {
  const HEAD = "name: x\ninputs:\n  goal: {}\nsteps:\n"
  const STEP = "  - id: a\n    agent: scout\n    objective: Find it\n"
  const GATE = '  - id: g\n    gate: release\n    items: ["Right?"]\n'
  const branch = (more: string) =>
    `${HEAD}  - id: p\n    parallel:\n      - id: b\n        agent: scout\n        objective: Look\n        ${more}\n`
  const detour = (more: string) =>
    `${HEAD}${STEP}detours:\n  - id: d\n    agent: scout\n    objective: Look\n    ${more}\n`
  const faults = (text: string) => {
    const parsed = parseFlow(text)
    return parsed.ok ? [] : parsed.faults.map(({ line, column, message }) => `${line}:${column} ${message}`)
  }
  const hole = '{{ inputs.gol }}: there is no input "gol" here. Did you mean "goal"?'

  const TABLE: [string, string, string[]][] = [
    ["rounds of a branch", branch("rounds: 2"), ['10:9 steps.0.parallel.0.rounds: "rounds" is not known here.']],
    [
      "on_failure of a branch",
      branch("on_failure: stop"),
      [
        "10:21 steps.0.parallel.0.on_failure: a branch that fails is a vote against; what follows is for `on_failure` of the parallel step",
      ],
    ],
    ["when of a detour", detour("when: inputs.goal"), ['12:5 detours.0.when: "when" is not known here.']],
    ["phase of a detour", detour("phase: write"), ['12:5 detours.0.phase: "phase" is not known here.']],
    ["cache of a detour", detour("cache: true"), ['12:5 detours.0.cache: "cache" is not known here.']],
    [
      "a hole in a constraint",
      `${HEAD}${STEP}    constraints: ["Only {{ inputs.gol }}"]\n`,
      [`8:25 steps.0.constraints.0: ${hole}`],
    ],
    [
      "a hole in a criterion",
      `${HEAD}${STEP}    success_criteria: ["All {{ inputs.gol }} pass"]\n`,
      [`8:29 steps.0.success_criteria.0: ${hole}`],
    ],
    [
      "a hole in a gate's title",
      `${HEAD}${STEP}${GATE.replace("release", '"release {{ inputs.gol }}"')}`,
      [`9:20 steps.1.gate: ${hole}`],
    ],
    [
      "a hole in a gate's options",
      `${HEAD}${STEP}${GATE}    options: { approve: "Ship {{ inputs.gol }}" }\n`,
      [`11:31 steps.1.options.approve: ${hole}`],
    ],
    [
      "a constraint that is a matter of opinion",
      `${HEAD}${STEP}    constraints: ["quickly"]\n`,
      [
        '8:19 steps.0.constraints.0: "quickly" means something else to everybody; say how much, or what must not happen',
      ],
    ],
  ]
  for (const [name, text, expected] of TABLE) test(name, () => expect(faults(text)).toEqual(expected))

  test("what has an effect is taken", () => {
    expect(faults(branch("on_failure: continue"))).toEqual([])
    const weighed = branch("weight: 2").replace("    parallel:", "    rule: { weighted: 2 }\n    parallel:")
    expect(faults(weighed)).toEqual([])
    for (const more of ["timeout_ms: 1000", "model: a/b", "policy: { can_modify_files: false }", "files: [a.ts]"])
      expect(faults(detour(more))).toEqual([])
  })

  test("a criterion is measured in whatever language it is written", () => {
    const criterion = (line: string) => faults(`${HEAD}${STEP}    success_criteria: ["${line}"]\n`)
    for (const line of [
      "所有测试都通过",
      "すべてのテストが通る",
      "ทดสอบทั้งหมดผ่าน",
      "모든 테스트가 통과한다",
      "Все тесты проходят",
    ])
      expect(criterion(line)).toEqual([])
    for (const line of ["完成", "終わりました"]) expect(criterion(line)).toHaveLength(1)
  })
})
