import { expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createModel, createSandbox, openSandboxes, prompt, repeat, say, unwrap } from "../src/index"

setDefaultTimeout(30_000)

const ANSWER = { agents: { build: repeat(say("hello")) } }

const fixture = (name: string) => join(import.meta.dir, "fixture", name)

const lives = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test("the project is a git repository with the given files in its one commit", async () => {
  await using model = await createModel()
  await using box = await createSandbox({ model, files: { "a/b.txt": "b\n", ".opencode/agent/x.md": "x" } })
  expect(box.read("a/b.txt")).toBe("b\n")
  expect(box.git("ls-files")).toBe(".opencode/agent/x.md\na/b.txt\n")
  expect(box.git("log", "--format=%an %s")).toBe("Rehearsal Start\n")
  box.write("a/b.txt", "changed\n")
  expect(box.git("status", "--porcelain")).toBe(" M a/b.txt\n")
  expect(() => box.write("../out.txt", "")).toThrow("outside the project")
  expect(() => box.git("frobnicate")).toThrow("git frobnicate: git: 'frobnicate'")
})

test("plugins, options, config and environment reach opencode; the developer's own do not", async () => {
  process.env["OPENAI_API_KEY"] = "the developer's"
  const asked: string[] = []
  using registry = npmRegistry((path) => asked.push(path))
  await using model = await createModel()
  await using box = await createSandbox({
    model,
    plugins: [[fixture("plugin.ts"), { color: "red" }]],
    config: {
      agent: { scout: { mode: "subagent", description: "Looks around" } },
      provider: { rehearsal: { options: { timeout: 12345 } } },
    },
    files: { ".opencode/opencode.json": JSON.stringify({ username: "somebody" }) },
    env: { EXTRA: "1", npm_config_registry: registry.url },
  })
  delete process.env["OPENAI_API_KEY"]
  await using server = await box.serve()
  expect(unwrap(await server.client.app.agents()).map((agent) => agent.name)).toContain("scout")
  expect(JSON.parse(box.read("seen.json"))).toEqual({
    options: { color: "red" },
    HOME: join(box.root, "home"),
    XDG_DATA_HOME: box.data,
    EXTRA: "1",
  })
  expect(unwrap(await server.client.config.get())).toMatchObject({
    model: "rehearsal/script",
    username: "somebody",
    provider: { rehearsal: { options: { baseURL: model.url, timeout: 12345 } } },
  })
  // Its config directories look as if its packages were installed, so it asks for none.
  expect(asked).toEqual([])
})

function npmRegistry(onRequest: (path: string) => void) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      onRequest(new URL(request.url).pathname)
      return new Response("none", { status: 404 })
    },
  })
  return { url: server.url.href, [Symbol.dispose]: () => void server.stop(true) }
}

test("two opencodes share one sandbox, and its data outlives kill -9", async () => {
  await using model = await createModel(ANSWER)
  await using box = await createSandbox({ model })
  const [one, two] = await Promise.all([box.serve(), box.serve()])
  const { sessionID: session } = await one.prompt({ agent: "build", text: "remember this" })
  const child = unwrap(await two.client.session.create({ parentID: session })).id
  expect(new Set(box.processes().map((item) => item.pid))).toEqual(new Set([one.pid, two.pid]))
  expect(await one.kill()).toEqual({ code: null, signal: "SIGKILL" })
  expect(await two.stop()).toEqual({ code: null, signal: "SIGTERM" })
  expect(await box.leftovers()).toEqual([])
  const three = await box.serve()
  const answer = await three.prompt({ agent: "build", text: "go on", sessionID: session })
  expect(answer.messages.map((message) => message.info.role)).toEqual(["user", "assistant", "user", "assistant"])
  expect(model.requests({ session, agent: "build" }).at(-1)?.messages[1]?.text).toContain("remember this")
  // This opencode has not seen the child begin, and knows its parent all the same.
  await three.prompt({ agent: "build", text: "you too", sessionID: child })
  expect(model.requests({ session: child, agent: "build" })[0]?.parent).toBe(session)
  model.verify()
})

test("opencode's own log is read from its files, oldest first", async () => {
  await using model = await createModel(ANSWER)
  await using box = await createSandbox({ model })
  expect(box.log()).toBe("")
  const server = await box.serve()
  const { sessionID: session } = await server.prompt({ agent: "build", text: "hi" })
  while (!box.log().includes(session)) await Bun.sleep(50)
  expect(server.logs()).not.toContain(session)
  const earlier = join(box.data, "opencode/log/yesterday.log")
  writeFileSync(earlier, "It was quiet.\n")
  utimesSync(earlier, 1, 1)
  expect(box.log()).toMatch(/^It was quiet\.\ntimestamp=/)
})

test("a server with a password is reached by its own client only", async () => {
  await using model = await createModel()
  await using box = await createSandbox({ model })
  const server = await box.serve({ env: { OPENCODE_SERVER_PASSWORD: "secret" } })
  expect((await fetch(`${server.url}/session?directory=${box.project}`)).status).toBe(401)
  expect(unwrap(await server.client.session.list())).toEqual([])
  using events = await server.events({ scope: "directory" })
  await server.client.session.create({ title: "mine" })
  expect((await events.until("session.created")).properties.info.title).toBe("mine")
  await expect(events.until("session.deleted", undefined, 10)).rejects.toThrow(
    "No session.deleted within 10 ms. Heard: ",
  )
})

test("a seeded worktree is another directory of the same server", async () => {
  await using model = await createModel({ agents: { scout: say("looked around") } })
  await using box = await createSandbox({ model, files: { ".opencode/agent/scout.md": "You scout." } })
  const worktree = join(box.root, "worktree")
  box.git("worktree", "add", "--quiet", worktree)
  box.seed(join(worktree, ".opencode"))
  const server = await box.serve()
  const answer = await prompt(server.clientFor(worktree), { agent: "scout", text: "where am I?" })
  expect(answer).toMatchObject({ text: "looked around", info: { path: { cwd: worktree } } })
  expect(readdirSync(join(worktree, ".opencode/node_modules"))).toEqual([])
  expect(box.git("-C", worktree, "status", "--porcelain")).toBe("")
  model.verify()
})

test("run gives exit code, output and events", async () => {
  await using model = await createModel({ agents: { build: say('it\'s "fine"') } })
  await using box = await createSandbox({ model })
  const result = await box.run({ agent: "build", prompt: 'say "it"' })
  expect(result).toMatchObject({ code: 0, signal: null, timed_out: false })
  expect(result.events.find((event) => event.type === "text")).toMatchObject({ part: { text: 'it\'s "fine"' } })
  expect(model.requests({ agent: "build" })[0]?.user).toBe('say "it"')
  model.verify()
})

test("run is killed when its time is up", async () => {
  await using model = await createModel()
  await using box = await createSandbox({ model })
  expect(await box.run({ prompt: "hi", timeout_ms: 50 })).toMatchObject({ timed_out: true, signal: "SIGKILL" })
})

test("a program that opencode cannot start with says so in its own words", async () => {
  await using model = await createModel()
  await using box = await createSandbox({ model })
  await expect(box.serve({ args: ["--no-such-option"] })).rejects.toThrow(
    /ended with code 1. Its output:\nopencode serve/,
  )
})

test("what nobody stopped is listed, and killed at the end", async () => {
  await using model = await createModel()
  const box = await createSandbox({ model })
  const server = await box.serve()
  // Leaves its parent and its process group, as a daemon does.
  Bun.spawnSync(["sh", "-c", "setsid sleep 300 >/dev/null 2>&1 &"], { env: box.env })
  await server.stop()
  expect(box.processes()).toMatchObject([{ command: "sleep 300" }])
  expect(openSandboxes()).toContain(box.root)
  expect(await box.dispose()).toMatchObject([{ command: "sleep 300" }])
  expect(box.processes()).toEqual([])
  expect(existsSync(box.root)).toBe(false)
  expect(openSandboxes()).not.toContain(box.root)
})

test("an opencode whose test run was killed ends itself", async () => {
  const run = Bun.spawn([process.execPath, fixture("abandon.ts")], { stdout: "pipe" })
  const { value } = await run.stdout.getReader().read()
  const left: { pid: number; root: string } = JSON.parse(new TextDecoder().decode(value))
  expect(lives(left.pid)).toBe(true)
  run.kill("SIGKILL")
  while (lives(left.pid)) await Bun.sleep(50)
  rmSync(left.root, { recursive: true })
})
