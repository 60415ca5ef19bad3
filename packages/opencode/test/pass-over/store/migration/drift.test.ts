import type { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { cpSync, existsSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { migrate, type Migration } from "../../../../src/pass-over/store/migrate"
import { MIGRATIONS } from "../../../../src/pass-over/store/migration.gen"
import { connect } from "../../support/database"
import { createFolder, type Folder } from "../../support/folder"

const ROOT = join(import.meta.dir, "../../../../../..")
const SHIPPED = join(ROOT, "migration/sqlite")
const STORE = join(ROOT, "packages/opencode/src/pass-over/store")
const SCHEMA = join(STORE, "*.sql.ts")

const Journal = z.object({
  dialect: z.literal("sqlite"),
  entries: z.array(z.object({ idx: z.int(), when: z.number(), tag: z.string(), breakpoints: z.literal(true) })),
})

const journal = () => Journal.parse(JSON.parse(readFileSync(join(SHIPPED, "meta/_journal.json"), "utf8"))).entries

const scripts = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .toSorted()

const statements = (path: string) =>
  readFileSync(path, "utf8")
    .split("--> statement-breakpoint")
    .map((statement) => statement.trim())
    .filter(Boolean)

/** Lets drizzle-kit write what is missing between the migrations in a folder and a schema. */
async function generate(folder: Folder, schema: string): Promise<string> {
  // Its output folder has to lie under where it runs, and what the schema imports above where that lies.
  if (!existsSync(folder.at("node_modules"))) symlinkSync(join(ROOT, "node_modules"), folder.at("node_modules"))
  const kit = Bun.spawn(
    [process.execPath, "--bun", join(ROOT, "node_modules/.bin/drizzle-kit"), "generate"].concat([
      "--dialect",
      "sqlite",
      "--schema",
      schema,
      "--out",
      "sqlite",
    ]),
    { cwd: folder.path, stdio: ["ignore", "pipe", "pipe"] },
  )
  const [stdout, stderr] = await Promise.all([new Response(kit.stdout).text(), new Response(kit.stderr).text()])
  expect(await kit.exited).toBe(0)
  return stdout + stderr
}

/** What a database is made of, without the order in which it came to be. */
function structure(client: Database) {
  const all = (sql: string) => client.query<Record<string, unknown>, []>(sql).all()
  const tables = all("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name")
    .map(({ name }) => String(name))
    .filter((name) => name !== "pass_over_migrations")
  return tables.map((table) => ({
    table,
    columns: all(`select name, type, "notnull", dflt_value, pk from pragma_table_info('${table}') order by name`),
    foreign: all(`select "from", "table", "to", on_delete from pragma_foreign_key_list('${table}') order by "from"`),
    indexes: all(`select name, "unique" from pragma_index_list('${table}') where origin = 'c' order by name`).map(
      (index) => ({ ...index, on: all(`select name from pragma_index_info('${String(index.name)}') order by seqno`) }),
    ),
    checks: [
      ...String(all(`select sql from sqlite_master where name = '${table}'`)[0]?.sql).matchAll(
        /CONSTRAINT "(\w+)" CHECK.*/g,
      ),
    ]
      .map(([text]) => text.replace(/,$/, ""))
      .toSorted(),
  }))
}

function built(migrations: readonly Migration[]) {
  using database = connect()
  const { client } = database
  migrate(client, migrations)
  return structure(client)
}

describe("the schema and its migrations", () => {
  test("say the same: nothing is left to generate", async () => {
    using folder = createFolder()
    cpSync(SHIPPED, folder.at("sqlite"), { recursive: true })
    const said = await generate(folder, SCHEMA)
    expect(said).toContain("No schema changes")
    expect(scripts(folder.at("sqlite"))).toEqual(scripts(SHIPPED))
  }, 20_000)

  test("are told apart when a column is added without a migration", async () => {
    using folder = createFolder()
    cpSync(SHIPPED, folder.at("sqlite"), { recursive: true })
    const text = readFileSync(join(STORE, "pass-over.sql.ts"), "utf8")
    const changed = text.replace("    call_id: text(),\n", "    call_id: text(),\n    mood: text(),\n")
    expect(changed).not.toBe(text)
    writeFileSync(folder.at("schema.ts"), changed)
    await generate(folder, folder.at("schema.ts"))
    const added = scripts(folder.at("sqlite")).filter((name) => !scripts(SHIPPED).includes(name))
    expect(added).toHaveLength(1)
    expect(readFileSync(folder.at("sqlite", added[0] ?? ""), "utf8")).toContain("ADD `mood` text")
  }, 20_000)

  test("build the same database, whether in one step or in all of them", async () => {
    using folder = createFolder()
    await generate(folder, SCHEMA)
    const fresh = scripts(folder.at("sqlite")).map((name) => ({
      tag: name.replace(".sql", ""),
      statements: statements(folder.at("sqlite", name)),
    }))
    expect(fresh).toHaveLength(1)
    const structure = built(fresh)
    expect(structure.length).toBeGreaterThan(10)
    expect(structure.flatMap(({ checks }) => checks).length).toBeGreaterThan(3)
    expect(built(MIGRATIONS)).toEqual(structure)
  }, 20_000)
})

describe("the migrations", () => {
  test("are the files that the journal lists, each with its snapshot, in an order without gaps", () => {
    const entries = journal()
    expect(entries.length).toBeGreaterThan(0)
    expect(scripts(SHIPPED)).toEqual(entries.map(({ tag }) => `${tag}.sql`))
    expect(entries.map(({ idx, tag }) => [idx, tag.slice(0, 4)])).toEqual(
      entries.map((_, index) => [index, String(index).padStart(4, "0")]),
    )
    const times = entries.map(({ when }) => when)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    const snapshots = readdirSync(join(SHIPPED, "meta")).filter((name) => name.endsWith("_snapshot.json"))
    expect(snapshots.toSorted()).toEqual(entries.map(({ tag }) => `${tag.slice(0, 4)}_snapshot.json`))
  })

  test("travel in the bundle as they stand in their files", () => {
    expect(MIGRATIONS).toEqual(
      journal().map(({ tag }) => ({ tag, statements: statements(join(SHIPPED, `${tag}.sql`)) })),
    )
  })

  test("are generated anew by nobody who checks out the project", () => {
    const { exitCode, stdout } = Bun.spawnSync([process.execPath, "script/generate.ts", "--check"], { cwd: ROOT })
    expect(stdout.toString()).toBe("")
    expect(exitCode).toBe(0)
  })
})
