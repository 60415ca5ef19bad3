import { describe, expect, test } from "bun:test"
import { demands } from "../../src/pass-over/domain/demand"
import { constraintLayers } from "../../src/pass-over/domain/constraint"
import { evaluate, fences, matches, meet, type Action, type Layer, type Rule } from "../../src/pass-over/domain/right"
import { patched } from "../../src/pass-over/domain/patch"
import { split } from "../../src/pass-over/domain/shell"
import { named } from "../../src/pass-over/service/change/record"
import { rightTo } from "../../src/pass-over/service/right"
import { place, rights } from "./support/rights"

/** The same numbers every time: a rule set that fails can be looked at again. */
function random(seed: number) {
  let state = seed
  const next = () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
  return {
    of: <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T,
    below: (n: number) => Math.floor(next() * n),
  }
}

const PERMISSIONS = ["*", "edit", "bash", "read", "web*", "webfetch", "mcp_tool"]
const PATTERNS = ["*", "src/*", "src/secret/*", "*.env", "git *", "git push*", "npm test", "src/?.ts", "docs/*"]
const PROBES: [string, string][] = [
  ["edit", "src/a.ts"],
  ["edit", "src/secret/key"],
  ["edit", "docs/a.md"],
  ["read", ".env"],
  ["bash", "git"],
  ["bash", "git push origin"],
  ["bash", "npm test"],
  ["webfetch", "https://example.org"],
  ["mcp_tool", "*"],
  ["unnamed_tool", "*"],
]
const ACTIONS: Action[] = ["allow", "ask", "deny"]

type Random = ReturnType<typeof random>

// The host's own defaults begin with "everything is allowed"; a user may have said otherwise.
const ruleSet = (r: Random): Rule[] => [
  ...(r.below(10) === 0 ? [] : [{ permission: "*", pattern: "*", action: "allow" as const }]),
  ...Array.from({ length: r.below(6) }, () => ({
    permission: r.of(PERMISSIONS),
    pattern: r.of(PATTERNS),
    action: r.of(ACTIONS),
  })),
]

// Written apart from the product: a pattern as the host's documentation explains it.
function matchesByHand(text: string, pattern: string): boolean {
  const rest = pattern.endsWith(" *") ? pattern.slice(0, -2) : undefined
  if (rest !== undefined && matchesByHand(text, rest)) return true
  if (pattern === "") return text === ""
  const [head = "", ...tail] = pattern
  const after = tail.join("")
  if (head === "*")
    return Array.from({ length: text.length + 1 }, (_, index) => index).some((index) =>
      matchesByHand(text.slice(index), after),
    )
  return text.length > 0 && (head === "?" || head === text[0]) && matchesByHand(text.slice(1), after)
}

const byHand = (rules: readonly Rule[], [permission, pattern]: [string, string]): Action =>
  rules.findLast((rule) => matchesByHand(permission, rule.permission) && matchesByHand(pattern, rule.pattern))
    ?.action ?? "ask"

const STRICT = { allow: 0, ask: 1, deny: 2 }
const strictest = (actions: Action[]) => actions.toSorted((a, b) => STRICT[b] - STRICT[a])[0] ?? "allow"

/** What happens in the end: the hook before the call, the host with its rules and ours, and our answer to what it asks. */
function happens(
  layers: Layer[],
  [permission, pattern]: [string, string],
  always: boolean,
  grant: Rule[] = [],
): Action {
  const [own, ...above] = layers as [Layer, ...Layer[]]
  const right = rightTo({ own, above, grant }, permission, [pattern]).action
  if (right === "deny") return "deny"
  const named = new Set([...layers.flatMap(({ rules }) => rules), ...grant].map((rule) => rule.permission))
  const fenced = [...own.rules, ...fences(own, above, [...named], grant)]
  // A user's "always" beats every rule of a session: then the host asks nobody.
  const host = always ? "allow" : evaluate(fenced, permission, pattern).action
  if (host !== "ask") return host
  return right
}

describe("a child may do what its own agent and everybody above it may", () => {
  test("100,000 chains of up to five: nothing is allowed that one forbids, nothing refused that all allow", () => {
    const r = random(7)
    let counts = { allow: 0, ask: 0, deny: 0 }
    for (let run = 0; run < 100_000; run += 1) {
      const layers = Array.from({ length: 2 + r.below(4) }, (_, index): Layer => ({
        who: `agent ${index}`,
        rules: ruleSet(r),
      }))
      const probe = r.of(PROBES)
      const oracle = strictest(layers.map(({ rules }) => byHand(rules, probe)))
      const found = meet(layers, probe[0], [probe[1]]).action
      if (found !== oracle) throw new Error(`${JSON.stringify({ layers, probe })}: ${found} instead of ${oracle}`)
      const ended = happens(layers, probe, false)
      counts = { ...counts, [ended]: counts[ended] + 1 }
      if (oracle === "deny" && ended !== "deny") throw new Error(`${JSON.stringify({ layers, probe })} was let through`)
      if (oracle === "allow" && ended === "deny") throw new Error(`${JSON.stringify({ layers, probe })} was refused`)
      if (oracle === "ask" && ended === "allow") throw new Error(`${JSON.stringify({ layers, probe })} asked nobody`)
      if (oracle === "deny" && happens(layers, probe, true) !== "deny")
        throw new Error(`${JSON.stringify({ layers, probe })}: "always" let it through`)
    }
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(1_000)
  }, 60_000)

  test("denials that are copied, as the host's own task does, let through what the child's session allows again", () => {
    const parent: Rule[] = [
      { permission: "edit", pattern: "*", action: "allow" },
      { permission: "edit", pattern: "secret/*", action: "deny" },
    ]
    const child: Rule[] = [{ permission: "edit", pattern: "*", action: "allow" }]
    const copied = [...parent.filter((rule) => rule.action === "deny"), ...child]
    expect(evaluate(copied, "edit", "secret/key").action).toBe("allow")
    expect(
      meet(
        [
          { who: "child", rules: child },
          { who: "parent", rules: parent },
        ],
        "edit",
        ["secret/key"],
      ).action,
    ).toBe("deny")
  })

  test("30,000 chains with grants: they lift what agents above say, nothing else, and the host lets it come to that", () => {
    const r = random(23)
    let counts = { allow: 0, ask: 0, deny: 0 }
    let lifted = 0
    for (let run = 0; run < 30_000; run += 1) {
      const layers = Array.from({ length: 2 + r.below(3) }, (_, index): Layer => ({
        who: `layer ${index}`,
        rules: ruleSet(r),
        ...(index > 0 && r.below(3) === 0 ? { binding: true } : {}),
      }))
      const grant = Array.from({ length: 1 + r.below(2) }, (): Rule => ({
        permission: r.of(PERMISSIONS),
        pattern: r.of(PATTERNS),
        action: "allow",
      }))
      const probe = r.of(PROBES)
      const free = grant.some(
        (rule) => matchesByHand(probe[0], rule.permission) && matchesByHand(probe[1], rule.pattern),
      )
      const heard = layers.filter(({ binding }, index) => index === 0 || binding || !free)
      const oracle = strictest(heard.map(({ rules }) => byHand(rules, probe)))
      lifted += Number(oracle !== strictest(layers.map(({ rules }) => byHand(rules, probe))))
      const ended = [happens(layers, probe, false, grant), happens(layers, probe, true, grant)]
      counts = { ...counts, [oracle]: counts[oracle] + 1 }
      const wanted = oracle === "deny" ? ["deny", "deny"] : [oracle, "allow"]
      if (String(ended) !== String(wanted))
        throw new Error(`${JSON.stringify({ layers, grant, probe })}: ${String(ended)} instead of ${String(wanted)}`)
    }
    for (const count of [...Object.values(counts), lifted]) expect(count).toBeGreaterThan(500)
  }, 60_000)

  test("a grant lets a child do what its originator may not, and never what its own agent may not", () => {
    const parent: Layer = { who: "alice", rules: [{ permission: "*", pattern: "*", action: "deny" }] }
    const grant: Rule[] = [{ permission: "edit", pattern: "docs/*", action: "allow" }]
    const open: Layer = { who: "writer", rules: [{ permission: "*", pattern: "*", action: "allow" }] }
    expect(rightTo({ own: open, above: [parent], grant }, "edit", ["docs/a.md"]).action).toBe("allow")
    expect(rightTo({ own: open, above: [parent], grant }, "edit", ["docs/a.md", "src/a.ts"]).action).toBe("deny")
    expect(rightTo({ own: parent, above: [open], grant }, "edit", ["docs/a.md"]).action).toBe("deny")
  })

  test("a tool that is granted for some paths is seen, one that is granted by a name with a star too", () => {
    const open: Layer = { who: "writer", rules: [{ permission: "*", pattern: "*", action: "allow" }] }
    const shut: Layer = { who: "alice", rules: [{ permission: "*", pattern: "*", action: "deny" }] }
    const seen = (permission: string, above: Layer[]) => {
      const grant: Rule[] = [permission, "mcp_*"].map((name) => ({
        permission: name,
        pattern: "docs/*",
        action: "allow",
      }))
      return (tool: string) =>
        evaluate(fences(open, above, ["edit", "bash", permission, "mcp_*"], grant), tool, "*").action
    }
    for (const tool of ["edit", "mcp_write"]) expect(seen("edit", [shut])(tool)).toBe("ask")
    for (const tool of ["bash", "other"]) expect(seen("edit", [shut])(tool)).toBe("deny")
    expect(seen("edit", [shut, { ...shut, binding: true }])("edit")).toBe("deny")
    expect(seen("*", [shut])("other")).toBe("ask")
  })

  test("behind a fence around everything the user is not shown a question about what everybody allows", () => {
    const open: Layer = { who: "writer", rules: [{ permission: "*", pattern: "*", action: "allow" }] }
    const own: Layer = { ...open, rules: [...open.rules, { permission: "read", pattern: "*.env", action: "ask" }] }
    const fenced = [...own.rules, ...fences(own, constraintLayers(["read_only"]), ["read", "grep", "bash"])]
    const host = (permission: string, pattern: string) => evaluate(fenced, permission, pattern).action
    expect([host("grep", "x"), host("read", "a.ts"), host("bash", "ls"), host("other", "*")]).toEqual([
      "allow",
      "ask",
      "deny",
      "deny",
    ])
  })

  test("no grant lifts a constraint, of this pass or of one above it", () => {
    const open: Layer = { who: "writer", rules: [{ permission: "*", pattern: "*", action: "allow" }] }
    const grant: Rule[] = ["edit", "bash"].map((permission) => ({ permission, pattern: "*", action: "allow" }))
    const held = { own: open, above: [{ ...open, who: "scout" }, ...constraintLayers(["no_paths: docs"])], grant }
    expect(rightTo(held, "edit", ["docs/a.md"])).toMatchObject({
      action: "deny",
      who: 'the constraint "no_paths: docs"',
    })
    expect([rightTo(held, "edit", ["src/a.ts"]).action, rightTo(held, "bash", ["ls"]).action]).toEqual([
      "allow",
      "deny",
    ])
  })

  test("a grant names paths from the project on, also where the host names them from elsewhere on", () => {
    const shut: Layer = { who: "alice", rules: [{ permission: "*", pattern: "*", action: "deny" }] }
    const open: Layer = { who: "writer", rules: [{ permission: "*", pattern: "*", action: "allow" }] }
    const grant: Rule[] = [
      { permission: "edit", pattern: "docs/*", action: "allow" },
      { permission: "bash", pattern: "ls", action: "allow" },
    ]
    const may = (permission: string, pattern: string) =>
      rightTo({ own: open, above: [shut], grant }, permission, [pattern], { within: "home/u/p" }).action
    expect([may("edit", "home/u/p/docs/a.md"), may("edit", "home/u/p/src/a.ts"), may("bash", "ls")]).toEqual([
      "allow",
      "deny",
      "allow",
    ])
  })
})

describe("the host's patterns", () => {
  for (const [text, pattern, is] of [
    ["git", "git *", true],
    ["git push", "git *", true],
    ["gitk", "git *", false],
    ["src/a.ts", "src/?.ts", true],
    ["src/ab.ts", "src/?.ts", false],
    ["a\\b", "a/*", true],
    ["a+b", "a+b", true],
    ["line one\nline two", "line*", true],
    ["", "*", true],
  ] as const) {
    test(`${JSON.stringify(pattern)} ${is ? "matches" : "does not match"} ${JSON.stringify(text)}`, () =>
      expect(matches(text, pattern)).toBe(is))
  }

  test("a pattern made of many stars is not slow", () => {
    const began = performance.now()
    matches("a".repeat(5_000), `${"*".repeat(200)}b`)
    matches("a".repeat(20_000), `${"*a".repeat(999)}b`)
    matches("a".repeat(20_000), `${"*?".repeat(999)}b`)
    expect(performance.now() - began).toBeLessThan(1_000)
  })

  test("are read as the regular expression reads them that the host makes of them", () => {
    // As the host does it; where it is short enough.
    const host = (text: string, pattern: string) => {
      const escaped = pattern
        .replaceAll("\\", "/")
        .replaceAll(/[.+^${}()|[\]]/g, String.raw`\$&`)
        .replaceAll(/\*+/g, ".*")
        .replaceAll("?", ".")
      const source = escaped.endsWith(" .*") ? `${escaped.slice(0, -3)}( .*)?` : escaped
      return new RegExp(`^${source}$`, "s").test(text.replaceAll("\\", "/"))
    }
    const r = random(11)
    const text = (letters: string[]) => Array.from({ length: r.below(8) }, () => r.of(letters)).join("")
    let fitting = 0
    for (let run = 0; run < 200_000; run += 1) {
      const probe = text(["a", "b", " ", "/", "\\", "\n", ".", "😀", "$", "*"])
      const pattern = text(["a", "b", " ", "*", "*", "?", " *", "\\", "\n", ".", "😀", "$", "a"])
      const is = host(probe, pattern)
      fitting += Number(is)
      if (matches(probe, pattern) !== is) throw new Error(`${JSON.stringify({ probe, pattern })}: not ${is}`)
    }
    expect(fitting).toBeGreaterThan(5_000)
  })
})

describe("what a tool call needs", () => {
  for (const [tool, args, permission, patterns] of [
    ["edit", { filePath: "/project/src/a.ts" }, "edit", ["src/a.ts"]],
    ["write", { filePath: "a.ts" }, "edit", ["sub/a.ts"]],
    [
      "apply_patch",
      { patchText: "*** Begin Patch\n*** Add File: /project/x\n*** Update File: y\n*** Move to: z\n*** End Patch" },
      "edit",
      ["x", "sub/y", "sub/z"],
    ],
    ["read", { filePath: "/etc/passwd" }, "read", ["../etc/passwd"]],
    [
      "bash",
      { command: "cd x && git push; echo 'a; b' | tee \"$(rm -rf y)\"" },
      "bash",
      ["cd x", "git push", "echo 'a; b'", "rm -rf y", 'tee "$(rm -rf y)"'],
    ],
    ["webfetch", { url: "https://example.org" }, "webfetch", ["https://example.org"]],
    ["task", { subagent_type: "general" }, "task", ["general"]],
    ["github_create_issue", { title: "x" }, "github_create_issue", ["*"]],
    ["edit", { filePath: 5 }, "edit", ["sub"]],
  ] as const) {
    test(`${tool} ${JSON.stringify(args)}`, () =>
      expect(demands(tool, args, place)).toEqual([{ permission, patterns: [...patterns] }]))
  }

  test("the files of a patch are told as the host reads them", () => {
    const patch = [
      "  *** Begin Patch",
      "*** Add File:src/a.ts",
      "+*** Add File: not/this.ts",
      "*** Update File:   src/b\u2028*** Add File: c.ts  ",
      "*** Move to:\tsrc/d.ts\r",
      "*** Delete File: ",
      "*** End Patch",
    ].join("\n")
    const names = ["src/a.ts", "src/b\u2028*** Add File: c.ts", "src/d.ts"]
    expect(patched(patch)).toEqual(names)
    expect(named({ tool: "apply_patch", args: { patchText: patch } })).toEqual(names)
    expect(demands("apply_patch", { patchText: patch }, { ...place, directory: "/project" })).toEqual([
      { permission: "edit", patterns: names },
    ])
  })

  test("a patch that names no file is refused where it matters which", () => {
    const [demand] = demands("apply_patch", { patchText: "nothing" }, place)
    expect(demand).toEqual({ permission: "edit", patterns: ["*"], unsure: true })
    const [open, narrow] = [rights(), rights("no_paths: secret/*")]
    const unsure = { unsure: true }
    expect(rightTo(open, "edit", ["*"], unsure).action).toBe("allow")
    expect([rightTo(narrow, "edit", ["*"]).action, rightTo(narrow, "edit", ["*"], unsure).action]).toEqual([
      "allow",
      "deny",
    ])
  })
})

describe("a command line in pieces", () => {
  test.each<[string, string[]]>([
    ["", []],
    ["a; b && c | d & e", ["a", "b", "c", "d", "e"]],
    [`echo "a; b" 'c; d'`, [`echo "a; b" 'c; d'`]],
    ['echo "$(a)"', ["a", 'echo "$(a)"']],
    ['echo "$(a "$(b)" c)" d', ["b", 'a "$(b)" c', 'echo "$(a "$(b)" c)" d']],
    ['echo "$(a (b) c)"; d', ["a", "b", "c", 'echo "$(a (b) c)"', "d"]],
    ['npm test "`a; b`" c', ["a", "b", 'npm test "`a; b`" c']],
    ['npm test "${X:-$(a)}"', ["a", 'npm test "${X:-$(a)}"']],
    ["npm test # it's fine\nrm -rf x # isn't it", ["npm test # it's fine", "rm -rf x # isn't it"]],
    ["echo a#'b; c'", ["echo a#'b; c'"]],
    ["git pu\\\nsh", ["git push"]],
    ["cat <<'E' > f; a\nit's\nb $(c)\nE\nd", ["cat <<'E' > f", "a", "d"]],
    ["cat <<E && a\nit's $(b)\n`c`\nE\nd", ["cat <<E", "a", "b", "c", "d"]],
    ["cat <<-E <<F\n\tone '\n\tE\ntwo '\nF\na", ["cat <<-E <<F", "a"]],
    ["cat <<<'a; b' c; d", ["cat <<<'a; b' c", "d"]],
    ["a 'b\nc'\nd", ["a 'b\nc'", "d"]],
    ['a "b \\" ; c"', ['a "b \\" ; c"']],
  ])("%j", (line, pieces) => expect(split(line)).toEqual({ pieces, sure: true }))

  test.each([
    "echo 'x",
    'echo "x',
    'echo "$(x"',
    'echo "`x"',
    'echo "`a \\`b\\``"',
    "echo `a \\`b\\``",
    "echo $'it\\'s' ; a",
    'echo "${X:-"a"}"',
    "`a # b` ; c",
    'echo "$(case x in x) a;; esac)"',
    "cat <<E\nx",
    "cat <<E",
    "a \\ # $(b)",
    'cat <<"E O"\nx\nE O',
    "(#a",
    '"$('.repeat(60),
  ])("%j cannot be told apart surely", (line) => expect(split(line).sure).toBe(false))

  test("what cannot be told apart is as strict as the strictest rule about it", () => {
    const only = rights("commands: npm test*")
    const may = (command: string, held = only) => {
      const [demand] = demands("bash", { command }, place)
      return rightTo(held, "bash", demand?.patterns ?? [], { unsure: demand?.unsure }).action
    }
    expect([may("npm test a"), may('npm test "`rm x`"'), may("npm test # it's\nrm x # 's")]).toEqual([
      "allow",
      "deny",
      "deny",
    ])
    expect([may("npm test 'x"), may("npm test 'x", rights()), may("npm test 'x", rights("no_tools: bash"))]).toEqual([
      "deny",
      "allow",
      "deny",
    ])
    expect([may(`npm test ${"a".repeat(30_000)}`), may("a".repeat(30_000), rights())]).toEqual(["deny", "allow"])
    expect(may("npm test 'x", { ...only, grant: [{ permission: "bash", pattern: "npm *", action: "allow" }] })).toBe(
      "deny",
    )
  })

  test("is read in no time, however it is nested", () => {
    const began = performance.now()
    for (const part of ['"$(', '"$(a)" ', "`", '"`', "${", "<<E ", "# \n", "'", '"', "(", "\\"])
      split(part.repeat(60_000))
    expect(performance.now() - began).toBeLessThan(1_000)
  })
})
