import { expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { call, say, type ModelRequest } from "@pass-over/rehearsal"
import { MIGRATIONS } from "../../../src/pass-over/store/migration.gen"
import { migrate } from "../../../src/pass-over/store/migrate"
import { openDatabase } from "../../../src/pass-over/store/open"
import { createBroken, refusal, usable, type Broken } from "../support/broken"
import { createDisk, missing } from "../support/disk"
import { passOver } from "../support/launcher"
import { databaseOf, storeOf } from "../support/opencode"
import { back } from "../support/script"

setDefaultTimeout(120_000)

const ELSEWHERE = "set the environment variable PASS_OVER_DB to a file elsewhere and start opencode again."
const WITHOUT = "Until then opencode works without Pass Over."
const cannot = (path: string, why: string) => `Pass Over cannot use its database ${path}: ${why}`

/** A database as an earlier opencode has left it. */
function make(path: string) {
  const opened = openDatabase(path)
  if (!opened.ok) throw new Error(opened.problem)
  opened.client.close()
}

/** A pass is tried where the database is of no use: its agent is told so, and the user, once. */
async function refused(broken: Broken, problem: string) {
  const tried = await broken.pass()
  usable(broken, tried)
  expect(tried.told).toBe(refusal("E014 RESOURCE_EXHAUSTED", problem))
  expect(await broken.shown()).toEqual([`${problem} ${WITHOUT}`])
}

/** What was in the way is gone: the same opencode goes on, and says no more. */
async function goesOn(broken: Broken) {
  const tried = await broken.pass({ audit: back })
  usable(broken, tried)
  expect(tried.told).toContain("audit: approved")
  expect(await broken.shown()).toHaveLength(1)
}

test("a damaged database leaves opencode usable and says what to do", async () => {
  await using broken = await createBroken({}, (box) => {
    mkdirSync(join(box.data, "opencode"), { recursive: true })
    writeFileSync(databaseOf(box), "this is not a database, and has never been one".repeat(40))
  })
  const advice =
    "Move it away and start opencode again: a new one is made, and pass-over audit restore brings the history back."
  await refused(
    broken,
    cannot(databaseOf(broken.box), `the file is damaged, or is no database (SQLITE_NOTADB). ${advice}`),
  )
})

// Nobody can make a folder there, not even root.
test.skipIf(process.platform !== "linux")(
  "a database that cannot be made leaves opencode usable and says what to do",
  async () => {
    const path = "/proc/pass-over/pass-over.db"
    const why = `its folder cannot be made (ENOENT). S${ELSEWHERE.slice(1)}`
    await using broken = await createBroken({ env: { PASS_OVER_DB: path } })
    await refused(broken, cannot(path, why))
  },
)

// Root may write in any folder; the next test is for root.
test.skipIf(process.getuid?.() === 0)(
  "a read-only folder leaves opencode usable, which goes on once it can be written",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "pass-over-locked-"))
    const path = join(folder, "pass-over.db")
    chmodSync(folder, 0o555)
    try {
      const why = `the file or its folder may not be written (EACCES). Make both writable, or ${ELSEWHERE}`
      await using broken = await createBroken({ env: { PASS_OVER_DB: path } })
      await refused(broken, cannot(path, why))
      chmodSync(folder, 0o755)
      await goesOn(broken)
    } finally {
      chmodSync(folder, 0o755)
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

const noDisk = missing(() => createDisk("64k"))

test.skipIf(noDisk !== "")(
  `a read-only disk leaves opencode usable, which goes on once it can be written${noDisk}`,
  async () => {
    using disk = createDisk("8m")
    const path = disk.at("pass-over.db")
    make(path)
    disk.readOnly()
    await using broken = await createBroken({ env: { PASS_OVER_DB: path } })
    const problem = cannot(path, `its disk is read-only (EROFS). Make the disk writable again, or ${ELSEWHERE}`)
    await refused(broken, problem)
    await refused(broken, problem)
    disk.writable()
    await goesOn(broken)
  },
)

test.skipIf(noDisk !== "").each([
  ["on which the database cannot be made", "SQLITE_FULL", () => {}],
  ["on which it lies already", "ENOSPC", make],
] as const)(
  `a full disk %s leaves opencode usable, which goes on once there is room${noDisk}`,
  async (_on, code, before) => {
    using disk = createDisk("8m")
    const path = disk.at("pass-over.db")
    before(path)
    disk.fill()
    await using broken = await createBroken({ env: { PASS_OVER_DB: path } })
    await refused(broken, cannot(path, `the disk is full (${code}). Free some space.`))
    disk.free()
    await goesOn(broken)
  },
)

const LATER = { tag: "9999_later", statements: ["CREATE TABLE later_things (id integer)"] }

test("a database that a newer version has changed is read and not written, and how to update is told", async () => {
  await using broken = await createBroken()
  const { box, model } = broken
  const { sessionID } = await broken.pass({ audit: back })
  await broken.server.stop()
  const store = storeOf(box)
  const [pass] = await store.list({})
  const opened = openDatabase(databaseOf(box))
  if (!opened.ok) throw new Error(opened.problem)
  migrate(opened.client, [...MIGRATIONS, LATER])
  const audit = await store.audit({ limit: 100 })

  await using server = await box.serve()
  const events = await server.events()
  const problem = `The database ${databaseOf(box)} was changed by a newer Pass Over. This older one only reads it, so it passes no work on. To update: opencode plugin opencode-pass-over@VERSION --force, with the version that npm view opencode-pass-over version prints; then start opencode again.`
  const told: string[] = []
  model.play({
    agents: {
      alice: [
        call("pass_over", { subagent: "audit", objective: "Once more", reason: "test" }),
        (request: ModelRequest) => (told.push(request.result("pass_over") ?? ""), call("pass_over_read")),
        (request: ModelRequest) => (told.push(request.result("pass_over_read") ?? ""), say("I did it myself.")),
      ],
    },
  })
  const { text } = await server.prompt({ agent: "alice", text: "Once more.", sessionID })
  await Bun.sleep(1_500)
  const toasts = events.list.filter((event) => event.type === "tui.toast.show")
  events.close()
  expect(text).toBe("I did it myself.")
  expect(told).toEqual([
    refusal("E014 RESOURCE_EXHAUSTED", problem),
    expect.stringContaining(`${pass?.id} · alice → audit · processed · Review a.txt`),
  ])
  expect(toasts.map(({ properties }) => properties)).toMatchObject([{ message: `${problem} ${WITHOUT}` }])
  const list = await passOver(box, "list", "--json")
  expect([list.err, list.code]).toEqual(["", 0])
  expect(list.json()).toMatchObject({ passes: [{ id: pass?.id, objective: "Review a.txt" }] })
  expect(await store.audit({ limit: 100 })).toEqual(audit)
  opened.client.close()
  store.close()
})

const UNTIL = "Until it is corrected no work is passed on; opencode itself works as before."

test("a broken configuration leaves opencode usable, and names the line and what was meant, whichever file it is", async () => {
  const project = ".opencode/pass-over.json"
  const broken = await createBroken(
    { files: { "a.txt": "a\n", [project]: '{\n  "pairs": { "alice->audit": { "enabeld": true } }\n}\n' } },
    ({ env }) => {
      const folder = join(env.XDG_CONFIG_HOME ?? "", "opencode")
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, "pass-over.json"), '{\n  "defualts": { "timeout_ms": 60000 }\n}\n')
    },
  )
  await using _ = broken
  const { box } = broken
  const [own, global] = [join(box.project, project), join(box.env.XDG_CONFIG_HOME ?? "", "opencode/pass-over.json")]
  const put = (text: string) => {
    box.write(project, text)
    box.git("commit", "-qam", "preferences")
  }
  const shown: string[] = []
  const says = async (fault: string) => {
    const tried = await broken.pass()
    usable(broken, tried)
    expect(tried.told).toBe(
      `Not done. E030 CONFIG_INVALID: ${fault} → Correct pass-over.json; pass-over config validate names the line.`,
    )
    shown.push(`${fault.replace(/([^?])$/, "$1.")} ${UNTIL}`)
    expect(await broken.shown()).toEqual(shown)
  }

  await says(`${own}:2:32 pairs.alice->audit.enabeld: unknown setting "enabeld"; did you mean \`enabled\`?`)
  put('{\n  "defaults": {\n    "timeout_ms": "30s"\n  }\n}\n')
  await says(`${own}:3:5 defaults.timeout_ms: must be a number, not "30s"; write 30000, in milliseconds`)
  put('{\n  "defaults": { "auto_apply": false }\n  "audit": {}\n}\n')
  await says(`${own}:3:3 not valid JSON: a comma is missing here`)
  put("{}\n")
  await says(`${global}:2:3 defualts: unknown setting "defualts"; did you mean \`defaults\`?`)
  writeFileSync(global, '{\n  "defaults": { "timeout_ms": 60000 }\n}\n')
  const tried = await broken.pass({ audit: back })
  usable(broken, tried)
  expect(tried.told).toContain("audit: approved")
  expect(await broken.shown()).toEqual(shown)
})
