import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { call, createModel, createSandbox, gate, hold, reply, say, type ModelRequest } from "@pass-over/rehearsal"
import { passOver } from "../support/launcher"
import { until } from "../support/until"
import { createWorld, endWorld, plugin, storeOf, toolCalls, type World } from "../support/opencode"

setDefaultTimeout(120_000)

const held = {} as { world: World }

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join("")

beforeAll(async () => {
  held.world = await createWorld({ files: { "a.txt": LINES, "b.txt": LINES, "c.txt": LINES } })
})
afterEach(() => held.world.model.verify())
afterAll(async () => {
  const { server, box } = held.world
  await server.client.instance.dispose()
  const left = () =>
    readdirSync(join(box.data, "opencode/pass-over/trees"), { recursive: true }).filter((path) =>
      String(path).includes("tree-"),
    )
  for (let tries = 0; tries < 200 && left().length > 0; tries += 1) await Bun.sleep(100)
  expect(left()).toEqual([])
  expect(await endWorld(held.world)).toEqual([])
})

const pass = (more: Record<string, unknown> = {}) =>
  call("pass_over", { subagent: "audit", objective: "Change both files", reason: "work", ...more })
const run = (command: string) => call("bash", { command, description: "work" })
const back = (more: Record<string, unknown> = {}) =>
  call("pass_over_return", { status: "completed", decision: "needs_modification", decision_reason: "done", ...more })
const idOf = (request: ModelRequest) =>
  /pass_over_read with id ([0-9a-f-]{36})/.exec(JSON.stringify(request.messages))?.[1] ?? ""

const messagesOf = async (sessionID: string) =>
  (await held.world.server.client.session.messages({ sessionID })).data ?? []

/** The texts of ours that came into a session by themselves. */
const brought = async (sessionID: string) =>
  (await messagesOf(sessionID)).flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "text" && part.synthetic === true ? [part.text] : [])),
  )

const ended = (id: string) =>
  until("the end of the pass", async () => {
    const found = await held.world.store.find(id as never)
    return found?.status === "processed" ? found : undefined
  })

test("what a person declines goes back to the child in its own session; the whole comes back to the originator, once", async () => {
  const { model, server, box, store } = held.world
  const [seen, trees] = [new Array<ModelRequest>(), new Array<string>()]
  model.play({
    agents: {
      alice: [pass(), say("It proposes two files."), say("It has done it again.")],
      audit: [
        run("pwd; sed -i 's/^line 3$/line three/' a.txt; sed -i 's/^line 5$/wrong/' b.txt"),
        (request: ModelRequest) => (trees.push(request.result("bash") ?? ""), back()),
        // The same session: it knows what it has done, and finds it in its tree.
        (request: ModelRequest) => {
          seen.push(request)
          return run("pwd; git diff --stat; tail -1 c.txt; sed -i 's/^wrong$/line five/' b.txt")
        },
        (request: ModelRequest) => (trees.push(request.result("bash") ?? ""), back({ decision: "approved" })),
      ],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  const [first] = await store.list({ session_id: answer.sessionID })
  expect((await store.changes(first!.id)).at(-1)?.files.map(({ path }) => path)).toEqual(["a.txt", "b.txt"])
  // The user goes on meanwhile, and clashes with nothing.
  box.write("c.txt", LINES.replace("line 20", "of the user"))

  const words = ["--accept", "a.txt", "--reject", "b.txt", "--reason", "it has to say five", "--rework", "--json"]
  const sent = await passOver(box, "review", first!.id, ...words)
  expect([sent.err, sent.code]).toEqual(["", 0])
  const [, second] = await store.list({ session_id: answer.sessionID })
  expect(sent.json()).toMatchObject({
    done: true,
    text: `audit does it again in its own session, as pass ${second?.id}.`,
  })
  expect(second).toMatchObject({ continues_pass_id: first?.id, originating_agent_id: "alice", wait: false })
  const end = await ended(second!.id)

  expect(end.child_session_id).toBe(first!.child_session_id)
  const children = (await server.client.session.children({ sessionID: answer.sessionID })).data ?? []
  expect(children).toHaveLength(1)
  expect(children[0]?.title).toContain("Do again what")
  expect(children[0]?.metadata).toMatchObject({ pass_over: { id: second?.id } })
  const [request] = seen
  expect(request?.messages.filter(({ role }) => role === "user")).toHaveLength(2)
  expect(request?.messages.flatMap(({ calls }) => calls.map(({ name }) => name))).toEqual(["bash", "pass_over_return"])
  expect(request?.user).toContain("b.txt: it has to say five")
  expect(request?.tools.map(({ name }) => name)).toContain("bash")
  // In the very tree, from the user's as it is now, with what it had made on top.
  const [before = "", after = ""] = trees
  expect(after.split("\n")[0]).toBe(before.split("\n")[0] ?? "")
  expect(after).toContain("a.txt | 2 +-")
  expect(after).toContain("b.txt | 2 +-")
  expect(after).toContain("of the user")

  // The originator reads that it is being done, and then has the result as a message, once.
  await until("alice", async () => (model.requests({ agent: "alice" }).length >= 3 ? true : undefined))
  await Bun.sleep(1_000)
  const texts = await brought(answer.sessionID)
  expect(texts.filter((text) => text.includes("does it again in its own session"))).toHaveLength(1)
  expect(
    texts.filter((text) => text.includes(`A pass that goes on from pass ${first?.id} has come back.`)),
  ).toHaveLength(1)
  expect(texts).toHaveLength(2)

  // What it did before is no part of this result.
  const used = (await store.outcome(second!.id))?.output.artifacts.filter(({ type }) => type === "tool_result")
  expect(used).toHaveLength(1)
  const [change] = await store.changes(second!.id)
  expect(change?.files.map(({ path }) => path)).toEqual(["a.txt", "b.txt"])
  expect(change?.notes).toEqual([])
  const applied = await passOver(box, "apply", second!.id, "--all", "--json")
  expect(applied.json()).toMatchObject({ pass_over_id: second?.id, paths: ["a.txt", "b.txt"] })
  expect(box.read("a.txt")).toBe(LINES.replace("line 3\n", "line three\n"))
  expect(box.read("b.txt")).toBe(LINES.replace("line 5\n", "line five\n"))
  // Its transcript shows both ends.
  const closed = await until("the farewell", async () => {
    const texts = await brought(first!.child_session_id!)
    const said = texts.filter((text) => text.startsWith("returned to alice"))
    return said.length > 1 ? said : undefined
  })
  expect(closed).toEqual(["returned to alice: needs_modification", "returned to alice: approved"])
})

test("an originator has its child go on, though it was left with its return alone, and what does not fit is told", async () => {
  const { model, server, box, store } = held.world
  box.write("a.txt", LINES)
  box.write("b.txt", LINES)
  const told: string[] = []
  model.play({
    agents: {
      alice: [
        pass({ objective: "First" }),
        (request: ModelRequest) => {
          box.write("a.txt", LINES.replace("line 3\n", "by the user\n"))
          return pass({ objective: "Second", continue: idOf(request) })
        },
        say("ok"),
      ],
      audit: [
        run("sed -i 's/^line 3$/by audit/' a.txt; sed -i 's/^line 7$/seven/' b.txt"),
        // It forgets to return, and is asked for that alone.
        say("I am done."),
        (request: ModelRequest) => (told.push(request.tools.map(({ name }) => name).join()), back()),
        (request: ModelRequest) => (told.push(request.user), run("cat a.txt b.txt")),
        (request: ModelRequest) => (told.push(request.result("bash") ?? ""), back()),
      ],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  const [first, second] = await store.list({ session_id: answer.sessionID })
  expect(second?.child_session_id).toBe(first?.child_session_id ?? "")
  expect(told[0]).toBe("pass_over_return")
  expect(told[1]).toContain("- a.txt as it was proposed before is not in the tree: both sides changed the same lines")
  expect(told[2]).toContain("by the user\n")
  expect(told[2]).toContain("seven\n")
  const change = (await store.changes(second!.id)).at(-1)
  expect(change?.files.map(({ path }) => path)).toEqual(["b.txt"])
  expect(change?.notes.join()).toContain("a.txt as it was proposed before")
  const [, outcome] = toolCalls(answer.messages, "pass_over").map((part) => part.state.output ?? "")
  expect(outcome).toContain("1 file proposed")
})

test("where the child is gone the originator goes on, and knows why", async () => {
  const { model, server, box, store } = held.world
  box.write("a.txt", LINES)
  model.play({
    agents: {
      alice: [pass({ objective: "Once" }), say("It proposes a file."), say("I see to it.")],
      audit: [run("echo more >> a.txt"), back()],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  const [first] = await store.list({ session_id: answer.sessionID })
  await until("the farewell", async () => {
    const texts = await brought(first!.child_session_id!)
    return texts.some((text) => text.startsWith("returned to alice")) ? true : undefined
  })
  await server.client.session.delete({ sessionID: first!.child_session_id! })
  const sent = await passOver(box, "review", first!.id, "--reject", "a.txt", "--reason", "no", "--rework")
  expect(sent.out).toContain(`The session of audit in pass ${first!.id} is not there any more.`)
  expect(sent.out).toContain("alice was told, and goes on with it.")
  await until("alice", async () => (model.requests({ agent: "alice" }).length >= 3 ? true : undefined))
  expect(model.requests({ agent: "alice" }).at(-1)?.user).toContain("a.txt: no")
  expect(await store.list({ session_id: answer.sessionID })).toHaveLength(1)
  await until("rest", async () => {
    const status = (await server.client.session.status()).data ?? {}
    return (status[answer.sessionID]?.type ?? "idle") === "idle" ? true : undefined
  })
})

test("days later, with no opencode open, one is started: the tree is made again in its place, and the child goes on", async () => {
  await using model = await createModel()
  await using box = await createSandbox({ model, plugins: [await plugin()], files: { "a.txt": LINES } })
  // The log of the passes makes this folder, and opencode would install its package into it.
  box.write(".opencode/pass-over.json", "{}")
  box.seed(join(box.project, ".opencode"))
  const places: string[] = []
  const place = (request: ModelRequest) => void places.push((request.result("bash") ?? "").split("\n")[0] ?? "")
  model.play({
    agents: {
      alice: [pass(), say("It proposes a file."), say("Now it is right.")],
      audit: [
        run("pwd; sed -i 's/^line 3$/wrong/' a.txt"),
        (request: ModelRequest) => (place(request), back()),
        run("pwd; sed -i 's/^wrong$/line three/' a.txt"),
        (request: ModelRequest) => (place(request), back({ decision: "approved" })),
      ],
    },
  })
  const server = await box.serve()
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  const store = storeOf(box)
  const [first] = await store.list({ session_id: answer.sessionID })
  await server.client.instance.dispose()
  await until("the trees to go", async () => ((await store.worktrees()).length === 0 ? true : undefined))
  await server.stop()
  expect(await box.leftovers(5_000)).toEqual([])

  const words = ["--reject", "a.txt", "--reason", "it has to say three", "--rework"]
  const sent = await passOver(box, "review", first!.id, ...words)
  expect([sent.err, sent.code]).toEqual(["", 0])
  expect(sent.out).toContain("audit does it again in its own session")
  const second = await until("the end of the pass", async () => {
    const found = (await store.list({ session_id: answer.sessionID })).at(1)
    return found?.status === "processed" ? found : undefined
  })
  expect(second).toMatchObject({ continues_pass_id: first?.id, child_session_id: first?.child_session_id })
  expect(places[1]).toBe(places[0] ?? "")
  expect(places[0]).toContain("/trees/")
  await until("alice", async () => (model.requests({ agent: "alice" }).length >= 3 ? true : undefined))
  // It goes when there is nothing left for it to do, and leaves nothing.
  expect(await box.leftovers(20_000)).toEqual([])
  expect((await passOver(box, "apply", second.id, "--all")).code).toBe(0)
  expect(box.read("a.txt")).toBe(LINES.replace("line 3\n", "line three\n"))
  model.verify()
  store.close()
})

test("opencode killed while a child goes on: what it did since is the result, with its changes, and none of what was before", async () => {
  await using model = await createModel()
  await using box = await createSandbox({ model, plugins: [await plugin()], files: { "a.txt": LINES } })
  box.write(".opencode/pass-over.json", "{}")
  box.seed(join(box.project, ".opencode"))
  const there = gate()
  model.play({
    agents: {
      alice: [pass(), (request: ModelRequest) => pass({ objective: "Now the other", continue: idOf(request) })],
      audit: [
        run("sed -i 's/^line 3$/three/' a.txt"),
        back(),
        run("sed -i 's/^line 9$/nine/' a.txt"),
        reply(say("Half of it."), hold(there)),
      ],
    },
  })
  const server = await box.serve()
  void server.prompt({ agent: "alice", text: "Go." }).catch(() => {})
  await there.reached
  await server.kill()
  const next = await box.serve()
  await next.client.app.agents()
  const store = storeOf(box)
  const outcome = await until("the outcome", async () => {
    const [, second] = await store.list({})
    const found = second && (await store.outcome(second.id))
    return found?.transcript === "read" ? { ...found, pass: second } : undefined
  })
  expect(outcome.error_code).toBe("E011")
  const of = (type: string) => outcome.output.artifacts.filter((artifact) => artifact.type === type)
  expect(JSON.stringify(of("tool_result").map((artifact) => "input" in artifact && artifact.input))).toContain("nine")
  expect([of("tool_result").length, of("file_modification").length]).toEqual([1, 1])
  // The tree had what was made before on top, and so has the proposal.
  const [modified] = of("file_modification")
  const content = modified && "new_content" in modified ? modified.new_content : ""
  expect(content).toBe(LINES.replace("line 3\n", "three\n").replace("line 9\n", "nine\n"))
  store.close()
  await next.client.instance.dispose()
  await next.stop()
  expect(await box.leftovers(5_000)).toEqual([])
  model.play({ agents: {} })
})
