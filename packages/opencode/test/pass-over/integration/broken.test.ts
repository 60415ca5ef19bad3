import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { call, createModel, createSandbox, say, type ModelRequest, type SandboxOptions } from "@pass-over/rehearsal"
import { plugin } from "../support/opencode"

setDefaultTimeout(60_000)

type Broken = { told: string; answered: string; toasts: string[]; status: string }

/** One prompt in which alice tries to pass work, in an opencode where something of ours is broken. */
async function tried(
  options: Partial<SandboxOptions>,
  prepare: (box: { data: string; project: string }) => void,
): Promise<Broken> {
  await using model = await createModel()
  await using box = await createSandbox({ model, plugins: [await plugin()], files: { "a.txt": "a\n" }, ...options })
  prepare(box)
  const seen = { told: "" }
  model.play({
    agents: {
      alice: [
        call("pass_over", { subagent: "audit", objective: "Review a.txt", reason: "test" }),
        (request: ModelRequest) => (
          (seen.told = request.result("pass_over") ?? ""),
          call("read", { filePath: join(box.project, "a.txt") })
        ),
        say("I did it myself."),
      ],
    },
  })
  const server = await box.serve()
  const events = await server.events()
  const answer = await server.prompt({ agent: "alice", text: "Review a.txt." })
  const toast = await events.until("tui.toast.show", undefined, 5_000).catch(() => undefined)
  const again = events.list.filter((event) => event.type === "tui.toast.show")
  events.close()
  await server.stop()
  return {
    told: seen.told,
    answered: answer.text,
    toasts: (toast ? again : []).map((event) => String((event.properties as { message?: unknown }).message)),
    status: box.git("status", "--porcelain"),
  }
}

function usable(broken: Broken) {
  // opencode works, the agent is told in a sentence, and so is the user, once.
  expect(broken.answered).toBe("I did it myself.")
  expect(broken.told.split("\n")).toHaveLength(1)
  expect(broken.toasts).toHaveLength(1)
  expect(broken.status).toBe("")
}

test("a damaged database leaves opencode usable and says what to do", async () => {
  const broken = await tried({}, ({ data }) => {
    mkdirSync(join(data, "opencode"), { recursive: true })
    writeFileSync(join(data, "opencode/pass-over.db"), "this is not a database, and has never been one".repeat(40))
  })
  usable(broken)
  expect(broken.told).toStartWith("Not done. E014 RESOURCE_EXHAUSTED: Pass Over cannot use its database")
  expect(broken.told).toContain("move it away")
})

test("a disk that cannot be written leaves opencode usable and says what to do", async () => {
  const broken = await tried({ env: { PASS_OVER_DB: "/proc/pass-over/pass-over.db" } }, () => {})
  usable(broken)
  expect(broken.told).toContain(
    "E014 RESOURCE_EXHAUSTED: Pass Over cannot use its database /proc/pass-over/pass-over.db",
  )
})

const mounted = (folder: string, size: string) =>
  Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder], { stderr: "ignore" }).exitCode === 0

const mountable = (() => {
  const folder = mkdtempSync(join(tmpdir(), "pass-over-mount-"))
  const can = process.platform === "linux" && mounted(folder, "64k")
  if (can) Bun.spawnSync(["umount", folder])
  rmSync(folder, { recursive: true, force: true })
  return can
})()

// A disk of our own can only be mounted by root; the store's own tests meet a full disk without one.
test.skipIf(!mountable)("a full disk leaves opencode usable and says what to do", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pass-over-full-"))
  mounted(folder, "64k")
  try {
    const broken = await tried({ env: { PASS_OVER_DB: join(folder, "pass-over.db") } }, () => {})
    usable(broken)
    expect(broken.told).toContain("E014 RESOURCE_EXHAUSTED")
    expect(broken.told).toContain("the disk is full; free some space")
  } finally {
    Bun.spawnSync(["umount", folder])
    rmSync(folder, { recursive: true, force: true })
  }
})

test("a broken configuration leaves opencode usable and names the line", async () => {
  const broken = await tried(
    {
      files: {
        "a.txt": "a\n",
        ".opencode/pass-over.json": '{\n  "pairs": { "alice->audit": { "enabeld": true } }\n}\n',
      },
    },
    () => {},
  )
  usable(broken)
  expect(broken.told).toMatch(
    /^Not done\. E030 CONFIG_INVALID: .*pass-over\.json:2:32 pairs\.alice->audit\.enabeld: unknown setting "enabeld"/,
  )
})
