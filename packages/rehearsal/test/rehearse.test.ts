import { expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, rmSync } from "node:fs"
import { call, openSandboxes, rehearse, say } from "../src/index"

setDefaultTimeout(30_000)

test("gives a model and a sandbox, and clears them away", async () => {
  const seen = { root: "" }
  await rehearse({ agents: {}, files: { "a.txt": "a" } }, async ({ model, box }) => {
    seen.root = box.root
    expect(box.read("a.txt")).toBe("a")
    expect((await fetch(`${model.url}/models`)).status).toBe(200)
  })
  expect(existsSync(seen.root)).toBe(false)
  expect(openSandboxes()).toEqual([])
})

test("fails when a step was not played", async () => {
  await expect(rehearse({ agents: { build: [say("a"), say("b")] } }, async () => {})).rejects.toThrow(
    "Not played: 2 of 2",
  )
})

test("fails with the body's own error when there is one", async () => {
  const body = async () => {
    throw new Error("mine")
  }
  await expect(rehearse({ agents: { build: say("a") } }, body)).rejects.toThrow("mine")
})

test("fails when a process outlives its opencode", async () => {
  const command = "setsid sleep 301 >/dev/null 2>&1 &"
  const script = [call("bash", { command, description: "Starts a daemon" }), say("started")]
  const failed = rehearse({ agents: { build: script } }, async ({ box }) => {
    const server = await box.serve()
    await server.prompt({ agent: "build", text: "start it" })
  })
  await expect(failed).rejects.toThrow(/outlived their opencode and were killed:\n {2}\d+ sleep 301/)
})

test("REHEARSAL_KEEP=1 keeps the directory", async () => {
  const seen = { root: "" }
  process.env["REHEARSAL_KEEP"] = "1"
  await rehearse({ agents: {} }, async ({ box }) => void (seen.root = box.root))
  delete process.env["REHEARSAL_KEEP"]
  expect(existsSync(seen.root)).toBe(true)
  rmSync(seen.root, { recursive: true })
})
