import { expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { call, say, type ModelRequest, type Sandbox } from "@pass-over/rehearsal"
import { createBroken, refusal, usable, type Broken } from "../support/broken"
import { createBrittleDisk, createDisk, missing } from "../support/disk"
import { storeOf } from "../support/opencode"
import { back } from "../support/script"
import { until } from "../support/until"

setDefaultTimeout(120_000)

const WITHOUT = "Until then opencode works without Pass Over."
const cannot = (path: string, why: string) => `Pass Over cannot use its database ${path}: ${why}`
const full = (path: string) => cannot(path, "the disk is full (SQLITE_FULL). Free some space.")

const noDisk = missing(() => createDisk("64k"))
const noBrittle = missing(createBrittleDisk)

async function approved(broken: Broken) {
  const tried = await broken.pass({ audit: back })
  usable(broken, tried)
  expect(tried.told).toContain("audit: approved")
  return tried
}

test.skipIf(noDisk !== "")(
  `a disk that gets full between two passes refuses the next ones, is told once, and is no trouble any more once there is room${noDisk}`,
  async () => {
    using disk = createDisk("16m")
    const path = disk.at("pass-over.db")
    await using broken = await createBroken({ env: { PASS_OVER_DB: path } })
    await approved(broken)
    expect(await broken.shown()).toEqual([])

    disk.fill()
    const more = [{ objective: "Review it once more" }]
    for (const tried of [await broken.pass(), await broken.pass()]) {
      usable(broken, tried)
      expect(tried.told).toBe(refusal("E014 RESOURCE_EXHAUSTED", full(path)))
    }
    const both = await broken.pass({}, { more })
    usable(broken, both)
    expect(
      both.told.split("\n").filter((line) => line === refusal("E014 RESOURCE_EXHAUSTED", full(path))),
    ).toHaveLength(2)
    expect(await broken.shown()).toEqual([`${full(path)} ${WITHOUT}`])

    disk.free()
    await approved(broken)
    expect(await broken.shown()).toHaveLength(1)
  },
)

test.skipIf(noDisk !== "")(
  `the result of a pass during which the disk gets full is given with what is wrong, and written down once there is room${noDisk}`,
  async () => {
    using disk = createDisk("16m")
    const path = disk.at("pass-over.db")
    await using broken = await createBroken({ env: { PASS_OVER_DB: path } })
    const changing = call("bash", { command: "echo changed >> a.txt", description: "Change it" })
    const tried = await broken.pass(
      { inspector: [changing, () => (disk.fill(), back)] },
      { subagent: "inspector", objective: "Change a.txt" },
    )
    usable(broken, tried)
    expect(tried.told).toContain("inspector: approved")
    expect(tried.told.split("\n").at(-1)).toBe(
      `This result could not be written down, and what was changed may be missing from it: ${full(path)} Tell the user this. It is written down as soon as that is possible; until then pass_over_read does not know it.`,
    )
    expect(await broken.shown()).toEqual([`${full(path)} ${WITHOUT}`])

    disk.free()
    const store = storeOf(broken.box)
    const outcome = await until("the outcome with what was changed", async () => {
      const [pass] = await store.list({})
      const found = pass?.status === "processed" ? await store.outcome(pass.id) : undefined
      return found?.output.summary.change && found
    })
    expect(outcome).toMatchObject({
      error_code: null,
      output: { status: "completed", summary: { decision: "approved", change: { origin: "isolated", files: 1 } } },
    })
    store.close()
    await approved(broken)
    expect(await broken.shown()).toHaveLength(1)
  },
)

test.skipIf(noDisk !== "")(
  `a result that nobody waits for comes once there is room where the disk got full meanwhile${noDisk}`,
  async () => {
    using disk = createDisk("16m")
    const path = disk.at("pass-over.db")
    await using broken = await createBroken({ env: { PASS_OVER_DB: path } })
    const { model, server } = broken
    const events = await server.events()
    const told: string[] = []
    model.play({
      agents: {
        alice: [
          call("pass_over", { subagent: "audit", objective: "Review a.txt", reason: "test", wait: false }),
          say("It is under way."),
          (request: ModelRequest) => (told.push(JSON.stringify(request.messages.at(-1))), say("It has come back.")),
        ],
        audit: [() => (disk.fill(), back)],
      },
    })
    expect((await server.prompt({ agent: "alice", text: "Go." })).text).toBe("It is under way.")
    await events.until("tui.toast.show")
    expect(await broken.shown()).toEqual([`${full(path)} ${WITHOUT}`])
    expect(told).toEqual([])
    disk.free()
    await until("the message", async () => told[0])
    events.close()
    expect(told[0]).toContain("audit: approved")
    expect(told[0]).not.toContain("could not be written down")
    expect(broken.box.git("status", "--porcelain")).toBe("")
  },
)

test.skipIf(noBrittle !== "")(
  `a disk that turns read-only while opencode runs leaves it usable and says what to do${noBrittle}`,
  async () => {
    using disk = createBrittleDisk()
    const path = disk.at("pass-over.db")
    await using broken = await createBroken({ env: { PASS_OVER_DB: path } })
    await approved(broken)
    const problem = cannot(
      path,
      "its disk is read-only (EROFS). Make the disk writable again, or set the environment variable PASS_OVER_DB to a file elsewhere and start opencode again.",
    )
    const during = await broken.pass({ audit: [() => (disk.turn(), back)] })
    usable(broken, during)
    expect(during.told).toContain("audit: approved")
    expect(during.told).toContain(`may be missing from it: ${problem} Tell the user this.`)
    const after = await broken.pass()
    usable(broken, after)
    expect(after.told).toBe(refusal("E014 RESOURCE_EXHAUSTED", problem))
    expect(await broken.shown()).toEqual([`${problem} ${WITHOUT}`])
  },
)

/** The folder of opencode's things in a project, which nobody may write until it is opened. */
function lock({ project, seed }: Sandbox): { open(): void; code: string } {
  const folder = join(project, ".opencode")
  // What opencode itself puts there, at any start: without it, it answers no prompt.
  seed(folder)
  writeFileSync(join(folder, ".gitignore"), "node_modules\npackage.json\npackage-lock.json\n.gitignore\n")
  if (process.getuid?.() !== 0) {
    chmodSync(folder, 0o555)
    return { open: () => chmodSync(folder, 0o755), code: "EACCES" }
  }
  const mount = (...argv: string[]) => Bun.spawnSync(["mount", ...argv])
  mount("--bind", folder, folder)
  mount("-o", "remount,bind,ro", folder)
  return { open: () => void Bun.spawnSync(["umount", "-l", folder]), code: "EROFS" }
}

const lines = (folder: string) =>
  (existsSync(folder) ? (readdirSync(folder, { recursive: true }) as string[]) : [])
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").trimEnd().split("\n"))

test.skipIf(process.getuid?.() === 0 && noDisk !== "")(
  `a project that cannot be written loses nothing: its log files catch up, and the user is told once`,
  async () => {
    const locked = { open: () => {}, code: "" }
    await using broken = await createBroken({}, (box) => void Object.assign(locked, lock(box)))
    using _ = { [Symbol.dispose]: () => locked.open() }
    const folder = join(broken.box.project, ".opencode/pass-over-logs")
    const reason = locked.code === "EROFS" ? "the disk is read-only (EROFS)" : "you may not write there (EACCES)"
    const told = `Pass Over cannot write the log files of this project in ${folder}: ${reason}. Nothing is lost: the database has every line, and the files catch up as soon as they can be written. If they are not wanted, set audit.log_all_passes to false in pass-over.json.`
    await approved(broken)
    await approved(broken)
    expect(await broken.shown()).toEqual([told])
    const store = storeOf(broken.box)
    const known = await store.audit({ limit: 100 })
    for (const action of ["requested", "dispatched", "returned", "processed"])
      expect([action, known.filter((line) => line.action === action).length]).toEqual([action, 2])

    locked.open()
    await approved(broken)
    await until("the files", async () => {
      const all = await store.audit({ limit: 100 })
      return all.length === 12 && lines(folder).length === all.length ? true : undefined
    })
    store.close()
    expect(await broken.shown()).toHaveLength(1)
    expect(broken.box.git("status", "--porcelain")).toBe("")
  },
)
