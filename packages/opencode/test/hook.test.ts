import { expect, test } from "bun:test"
import { createHooks } from "../src/hook"
import { started } from "./pass-over/support/drive"
import { createEngineWorld, type EngineWorld } from "./pass-over/support/engine"
import { settle } from "./pass-over/support/fake-clock"

test("commands of a child are told whose they are, and nobody else's", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => child.told)
  const { pass } = await started(world)
  await settle(20)
  const hooks = createHooks(world.engine, { directory: "/project", worktree: "/project" })
  const of = async (sessionID: string | undefined) =>
    (await hooks.shell(sessionID === undefined ? {} : { sessionID }, {})).PASS_OVER_ID
  expect(await of(world.host.children[0]?.session_id)).toBe(pass.id)
  expect(await of("ses_root")).toBeUndefined()
  expect(await of(undefined)).toBeUndefined()
})

const LIMITED = {
  origin: "project" as const,
  path: ".opencode/pass-over.json",
  preferences: { subagents: { audit: { max_memory_mb: 100 } } },
}

async function working(world: EngineWorld) {
  world.host.script("audit", async (child) => child.told)
  await started(world)
  await settle(20)
  const hooks = createHooks(world.engine, { directory: "/project", worktree: "/project" })
  const sessionID = world.host.children.at(-1)!.session_id
  /** What a command's agent reads in the end. */
  return async (given: { output?: unknown; exit?: unknown; tool?: string; sessionID?: string }) => {
    const said = { title: "x", output: given.output, metadata: { exit: given.exit ?? 1 } }
    const args = { command: "python3 build.py" }
    const call = { tool: given.tool ?? "bash", sessionID: given.sessionID ?? sessionID, callID: "c", args }
    return (await hooks.after(call, said)) ?? said.output
  }
}

test("a command that meets max_memory_mb is told so with E014, and no other is told anything", async () => {
  using world = createEngineWorld()
  world.preferences.push(LIMITED)
  const read = await working(world)
  const told = await read({ output: "Traceback\nMemoryError\n" })
  expect(told).toStartWith("Traceback\nMemoryError\n\nE014 RESOURCE_EXHAUSTED: The command ran out of memory")
  expect(told).toContain("max_memory_mb is 100, set at subagents.audit.max_memory_mb in .opencode/pass-over.json")
  expect(await read({ output: "", exit: 139 })).toContain("may have run out of memory (exit code 139, SIGSEGV)")

  for (const given of [
    { output: "1 test failed\n" },
    { output: "MemoryError\n", exit: 0 },
    { output: "MemoryError\n", exit: "1" },
    { output: "MemoryError\n", tool: "read" },
    { output: "MemoryError\n", sessionID: "ses_root" },
    { output: undefined },
    { output: { text: "MemoryError" } },
  ]) {
    expect(await read(given)).toEqual(given.output)
  }
})

test("a child without a limit that somebody has set is told nothing", async () => {
  using world = createEngineWorld()
  const read = await working(world)
  expect(await read({ output: "MemoryError\n" })).toBe("MemoryError\n")
})

const GRANTED = {
  origin: "global" as const,
  path: "pass-over.json",
  preferences: {
    pairs: {
      "alice->audit": {
        grant: [
          { permission: "edit", pattern: ".opencode/flows/*" },
          { permission: "*", pattern: "*" },
        ],
      },
    },
  },
}

test("a child writes nothing that decides its rights, unless a grant names it; the user's own agent is left alone", async () => {
  for (const granted of [false, true]) {
    using world = createEngineWorld()
    if (granted) world.preferences.push(GRANTED)
    world.host.script("audit", async (child) => child.told)
    await started(world)
    await settle(20)
    const child = world.host.children[0]!.session_id
    const hooks = createHooks(world.engine, { directory: "/project/sub", worktree: "/project" })
    const said = (tool: string, args: unknown, sessionID = child) =>
      hooks.before({ tool, sessionID, callID: "c" }, args).then(
        () => "may",
        (error: Error) => error.message,
      )
    const patch = (line: string) => said("apply_patch", { patchText: `*** Begin Patch\n${line}\n*** End Patch` })
    const flow = await said("write", { filePath: "/project/.opencode/flows/two.yaml" })
    if (granted) expect(flow).toBe("may")
    if (!granted) {
      expect(flow).toBe(
        'E013 PERMISSION_DENIED: audit may not edit .opencode/flows/two.yaml in this pass: ".opencode" belongs to git, opencode or Pass Over, and no grant names it. → Do what you can without it, and say in your return what you could not do.',
      )
    }
    const paths = [
      "opencode.jsonc",
      "../.git/config",
      "../.OPENCODE/plugin/x.ts",
      "../.opencode/pass-over.json",
      "/etc/opencode.json",
    ]
    for (const filePath of paths) {
      for (const tool of ["edit", "write"]) expect(await said(tool, { filePath })).toContain("belongs to git, opencode")
    }
    expect(await patch("*** Update File:a.ts\n*** Move to:../.opencode/plugin/a.ts")).toContain("belongs to git")
    expect(await patch("*** Update File: a.ts")).toBe("may")
    expect(await said("edit", { filePath: "src/opencode.ts" })).toBe("may")
    expect(await said("read", { filePath: "../.opencode/pass-over.json" })).toBe("may")
    expect(await said("write", { filePath: "../.opencode/pass-over.json" }, "ses_root")).toBe("may")
  }
})

test("outside of git, where the host names files from the root of the disk on, paths are held to as well", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => child.told)
  await started(world, { constraints: ["no_paths: secret"] })
  await settle(20)
  const sessionID = world.host.children[0]!.session_id
  const hooks = createHooks(world.engine, { directory: "/project", worktree: "/" })
  const said = (filePath: string) =>
    hooks.before({ tool: "write", sessionID, callID: "c" }, { filePath }).then(
      () => "may",
      (error: Error) => error.message,
    )
  for (const path of ["secret/key", "/project/secret/deep/key"])
    expect(await said(path)).toContain('the constraint "no_paths: secret" forbids it')
  for (const path of ["src/a.ts", "secrets"]) expect(await said(path)).toBe("may")
})
