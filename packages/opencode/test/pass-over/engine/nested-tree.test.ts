import { expect, test } from "bun:test"
import { existsSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Pass } from "../../../src/pass-over/domain/pass"
import { mergeWithPresent } from "../../../src/pass-over/service/change/merge"
import { viewChange } from "../../../src/pass-over/service/change/view"
import {
  back,
  changed,
  createNestedWorld,
  FILES,
  git,
  LINES,
  prefer,
  put,
  read,
  type NestedWorld,
} from "../support/nested"

const left = (world: NestedWorld) =>
  readdirSync(world.trees, { recursive: true }).filter((path) => String(path).includes("tree-"))

test("what the shell of a nested child writes that may not change files is nowhere, and is told", async () => {
  using world = createNestedWorld(FILES)
  prefer(world, { subagents: { audit: { can_modify_files: false } } })
  const seen = {} as { nested: Pass; middle: string[] }
  const runner = await world.run("scout", async (scout) => {
    put(scout.tree, "above.txt", "above\n")
    const nested = await scout.on("audit", async (audit) => {
      expect(audit.tree).not.toBe(scout.tree)
      // It begins as the tree above it is.
      expect(read(audit.tree, "above.txt")).toBe("above\n")
      put(audit.tree, "below.txt", "below\n")
      put(audit.tree, "a.txt", "ruined\n")
      await back(audit)
    })
    await nested.outcome
    seen.nested = nested.pass
    seen.middle = [read(scout.tree, "below.txt") ?? "", read(scout.tree, "a.txt") ?? ""]
    await back(scout)
  })
  expect(seen.middle).toEqual(["", LINES])
  expect([read(world.directory, "below.txt"), read(world.directory, "a.txt")]).toEqual([undefined, LINES])
  const told = await changed(world, seen.nested)
  expect(told?.files).toEqual([])
  expect(told?.notes.join()).toContain("it may not change files; discarded: a.txt, below.txt")
  expect((await changed(world, runner.pass))?.files.map(({ path }) => path)).toEqual(["above.txt"])
  await world.workspaces.close()
  expect(left(world)).toEqual([])
  expect(git(world.directory, "worktree", "list").trim().split("\n")).toHaveLength(1)
})

test("who is below one that may not change files may not either, whatever its pair is granted", async () => {
  using world = createNestedWorld(FILES)
  prefer(world, {
    subagents: { scout: { can_modify_files: false } },
    pairs: { "scout->inspector": { grant: [{ permission: "edit", pattern: "*" }] } },
  })
  const made = {} as Record<string, Pass>
  await world.run("scout", async (scout) => {
    for (const agent of ["audit", "inspector"]) {
      const nested = await scout.on(agent, async (child) => {
        put(child.tree, "by-shell.txt", "x\n")
        await back(child)
      })
      await nested.outcome
      made[agent] = nested.pass
    }
    await back(scout)
  })
  for (const agent of ["audit", "inspector"])
    expect((await changed(world, made[agent]!))?.notes.join()).toContain("discarded: by-shell.txt")
})

test.each([
  ["in git", true],
  ["outside of git", false],
])(
  "what a nested child changes is a proposal to the one above, for its tree, and part of its change then: %s",
  async (_, inGit) => {
    using world = createNestedWorld(FILES, { git: inGit })
    const seen = {} as { nested: Pass; before: unknown; after: unknown; note: string; outcome: string }
    const runner = await world.run("scout", async (scout) => {
      put(scout.tree, "above.txt", "above\n")
      const nested = await scout.on("audit", async (audit) => {
        put(audit.tree, "a.txt", LINES.replace("line 3\n", "three\n"))
        put(audit.tree, "above.txt", "above, and below\n")
        put(audit.tree, "made.txt", "made\n")
        rmSync(join(audit.tree, "sub/b.txt"))
        await back(audit, { findings: [{ severity: "info", category: "x", message: `in ${audit.tree}/a.txt` }] })
      })
      const outcome = await nested.outcome
      seen.nested = nested.pass
      seen.outcome = JSON.stringify(outcome.output)
      seen.before = [
        read(scout.tree, "made.txt"),
        read(scout.tree, "above.txt"),
        existsSync(join(scout.tree, "sub/b.txt")),
      ]
      const change = (await changed(world, nested.pass))!
      seen.note = (await viewChange(world.deps, change)).notes.join()
      // No person is asked about a tree that is itself a proposal; who edits there is.
      const asked: string[] = []
      const applied = await world.apply(nested.pass, "scout", async (ops, target) => {
        asked.push(`${ops.length} ${target.directory} ${target.tree !== undefined}`)
        return undefined
      })
      expect(applied).toMatchObject({ ok: true })
      expect(asked).toEqual([`4 ${scout.tree} true`])
      seen.after = [
        read(scout.tree, "made.txt"),
        read(scout.tree, "above.txt"),
        existsSync(join(scout.tree, "sub/b.txt")),
      ]
      put(scout.tree, "a.txt", `${read(scout.tree, "a.txt")}one more\n`)
      await back(scout)
    })
    expect([seen.before, seen.after]).toEqual([
      [undefined, "above\n", true],
      ["made\n", "above, and below\n", false],
    ])
    const { nested } = seen
    expect(seen.note).toContain(`it is for the tree in which scout works in pass ${runner.pass.id}`)
    // To everybody else it is the project.
    expect(seen.outcome).toContain(`in ${world.directory}/a.txt`)
    const whose = `made by audit in pass ${nested.id}, and applied to its tree`
    expect((await changed(world, runner.pass))?.files.map(({ path, reason }) => [path, reason])).toEqual([
      ["a.txt", `${whose}; changed in its own tree besides`],
      ["above.txt", `${whose}; changed in its own tree besides`],
      ["made.txt", whose],
      ["sub/b.txt", whose],
    ])
    expect([read(world.directory, "made.txt"), read(world.directory, "a.txt")]).toEqual([undefined, LINES])
    // The whole goes to the user.
    expect(await world.apply(runner.pass, "ada")).toMatchObject({ ok: true })
    expect([read(world.directory, "made.txt"), read(world.directory, "above.txt")]).toEqual([
      "made\n",
      "above, and below\n",
    ])
    expect(existsSync(join(world.directory, "sub/b.txt"))).toBe(false)
  },
)

test("two at once over the same file: the second is refused on what the first left there, and fits once it is merged", async () => {
  using world = createNestedWorld(FILES)
  const runner = await world.run("scout", async (scout) => {
    const both = [
      await scout.on("audit", async (child) => {
        put(child.tree, "a.txt", LINES.replace("line 3\n", "three\n"))
        await back(child)
      }),
      await scout.on("inspector", async (child) => {
        put(child.tree, "a.txt", LINES.replace("line 25\n", "twenty-five\n"))
        await back(child)
      }),
    ]
    await Promise.all(both.map(({ outcome }) => outcome))
    const [first, second] = both.map(({ pass }) => pass) as [Pass, Pass]
    expect(first.child_session_id).not.toBe(second.child_session_id)
    expect(await world.apply(first, "scout")).toMatchObject({ ok: true })
    expect(await world.apply(second, "scout")).toMatchObject({ ok: false, refusal: { code: "E041" } })
    const merged = await mergeWithPresent(world.deps, second, (await changed(world, second))!)
    expect(merged).toMatchObject({ ok: true, change: { directory: scout.tree } })
    expect(await world.apply(second, "scout")).toMatchObject({ ok: true })
    await back(scout)
  })
  const [file] = (await changed(world, runner.pass))!.files
  expect(file?.reason).toMatch(/^made by audit in pass \S+ and inspector in pass \S+, and applied to its tree$/)
  expect(await world.apply(runner.pass, "ada")).toMatchObject({ ok: true })
  expect(read(world.directory, "a.txt")).toBe(
    LINES.replace("line 3\n", "three\n").replace("line 25\n", "twenty-five\n"),
  )
})

test("paths: what the one above calls its tree, and what is called the project, is the child's own, and back again", async () => {
  using world = createNestedWorld(FILES)
  const runner = await world.run("scout", async (scout) => {
    put(scout.tree, "a.txt", "only in the tree above\n")
    const nested = await scout.on(
      "audit",
      async (audit) => {
        const { text } = audit.prompt
        expect(text).toContain(`${audit.tree}/a.txt and ${audit.tree}/sub/b.txt`)
        expect(text).not.toContain(scout.tree)
        // What it proposes in words is checked against the tree that it is for, whatever name it gives the file.
        const told = await back(audit, {
          artifacts: [
            {
              type: "file_modification",
              path: `${audit.tree}/a.txt`,
              edits: [{ old_string: "only", new_string: "not only" }],
              reason: "x",
            },
          ],
        })
        expect(told).toStartWith("Received")
      },
      { objective: `Look at ${scout.tree}/a.txt and ${world.directory}/sub/b.txt` },
    )
    await nested.outcome
    expect((await changed(world, nested.pass))?.files.map(({ path }) => path)).toEqual(["a.txt"])
    expect(await world.apply(nested.pass, "scout")).toMatchObject({ ok: true })
    expect(read(scout.tree, "a.txt")).toBe("not only in the tree above\n")
    await back(scout)
  })
  expect((await changed(world, runner.pass))?.files.map(({ path }) => path)).toEqual(["a.txt"])
})

test("three deep: each is made of the one above, and all that is applied comes to the user as one change", async () => {
  using world = createNestedWorld(FILES)
  prefer(world, {
    defaults: { max_chain_depth: 5 },
    pairs: { "scout->audit": {}, "audit->inspector": {} },
  })
  const trees: string[] = []
  const runner = await world.run("scout", async (scout) => {
    put(scout.tree, "one.txt", "1\n")
    const second = await scout.on("audit", async (audit) => {
      put(audit.tree, "two.txt", "2\n")
      const third = await audit.on("inspector", async (inspector) => {
        trees.push(scout.tree, audit.tree, inspector.tree)
        expect(["one.txt", "two.txt"].map((path) => read(inspector.tree, path))).toEqual(["1\n", "2\n"])
        put(inspector.tree, "three.txt", "3\n")
        await back(inspector)
      })
      await third.outcome
      expect(await world.apply(third.pass, "audit")).toMatchObject({ ok: true, application: { directory: audit.tree } })
      await back(audit)
    })
    await second.outcome
    expect(await world.apply(second.pass, "scout")).toMatchObject({ ok: true, application: { directory: scout.tree } })
    await back(scout)
  })
  expect(new Set(trees).size).toBe(3)
  const change = (await changed(world, runner.pass))!
  expect(change.files.map(({ path }) => path)).toEqual(["one.txt", "three.txt", "two.txt"])
  expect(await world.apply(runner.pass, "ada")).toMatchObject({ ok: true })
  expect(["one.txt", "two.txt", "three.txt"].map((path) => read(world.directory, path))).toEqual(["1\n", "2\n", "3\n"])
})

test("without a tree of its own it works in that of the one above, and what its shell changes there is its own too", async () => {
  using world = createNestedWorld(FILES)
  prefer(world, { pairs: { "scout->audit": { isolation: "none" } } })
  const seen = {} as { nested: Pass }
  const runner = await world.run("scout", async (scout) => {
    const nested = await scout.on("audit", async (audit) => {
      expect(audit.tree).toBe(scout.tree)
      const { recorder } = world.engine.running.byChild(audit.session_id)!
      const call = { call_id: "c1", tool: "bash", args: { command: "x" }, session_id: audit.session_id }
      await recorder!.before(call)
      put(audit.tree, "by-shell.txt", "x\n")
      await recorder!.after(call)
      await back(audit)
    })
    await nested.outcome
    seen.nested = nested.pass
    await back(scout)
  })
  const direct = await changed(world, seen.nested)
  expect([direct?.origin, direct?.files.map(({ path }) => path)]).toEqual(["direct", ["by-shell.txt"]])
  const [file] = (await changed(world, runner.pass))!.files
  expect(file?.reason).toBe(`made by audit in pass ${seen.nested.id}, and applied to its tree`)
})

test("a nested child goes on in its own tree, made of the one above as that is by then", async () => {
  using world = createNestedWorld(FILES)
  await world.run("scout", async (scout) => {
    const first = await scout.on("audit", async (audit) => {
      put(audit.tree, "made.txt", "made\n")
      await back(audit)
    })
    await first.outcome
    put(scout.tree, "later.txt", "later\n")
    await world.clock.advance(1)
    const again = await scout.on(
      "audit",
      async (audit) => {
        expect(audit.session_id).toBe(first.pass.child_session_id!)
        expect(["later.txt", "made.txt"].map((path) => read(audit.tree, path))).toEqual(["later\n", "made\n"])
        await back(audit)
      },
      { continue: first.pass.id },
    )
    await again.outcome
    const change = await changed(world, again.pass)
    expect([change?.directory, change?.files.map(({ path }) => path)]).toEqual([scout.tree, ["made.txt"]])
    await back(scout)
  })
})
