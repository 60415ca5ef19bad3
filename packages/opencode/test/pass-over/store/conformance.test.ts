import { Glob } from "bun"
import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { openStore } from "../support/database"

const FOLDER = join(import.meta.dir, "conformance")
const typescript = new Bun.Transpiler({ loader: "ts" })

/** A file as it runs: without its types and its comments, in which a method may be spoken of and never called. */
const plain = async (path: string) => typescript.transformSync(await Bun.file(path).text())

type Contracts = { file: string; code: string; exported: string[] }

async function contracts(): Promise<Contracts[]> {
  const files = [...new Glob("*.ts").scanSync(FOLDER)].toSorted()
  const read = files.map(async (file) => {
    const code = await plain(join(FOLDER, file))
    return { file, code, exported: [...code.matchAll(/export function (\w+Contract)\b/g)].map(([, name = ""]) => name) }
  })
  // What the others are made of is no contract itself.
  return (await Promise.all(read)).filter(({ exported }) => exported.length > 0)
}

/** The methods of a store that no contract calls on one. */
const unnamed = (methods: readonly string[], code: string) =>
  methods.filter((method) => !new RegExp(String.raw`\bstore\??\.${method}\b`).test(code))

describe("the suite that every store has to pass", () => {
  test("names every method of the port", async () => {
    // Everything that the type of the port has, this store has: the compiler sees to that.
    using database = openStore(":memory:")
    const methods = Object.entries(database.store).flatMap(([name, is]) => (typeof is === "function" ? [name] : []))
    expect(methods.length).toBeGreaterThan(100)
    const all = await contracts()
    expect(all.length).toBeGreaterThan(10)
    const code = all.map((each) => each.code).join("\n")
    expect(unnamed(methods, code)).toEqual([])
    expect(unnamed([...methods, "nobodyKnows"], code)).toEqual(["nobodyKnows"])
  })

  test("takes a method for named only where it is called on a store", () => {
    expect(unnamed(["find", "list"], "rows.find(one); scene.store.list({}); list.find(two)")).toEqual(["find"])
  })

  test("is made of every contract that there is", async () => {
    const suite = await plain(join(import.meta.dir, "conformance.ts"))
    const names = (await contracts()).flatMap(({ exported }) => exported)
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !suite.includes(`${name}(setup)`))).toEqual([])
  })

  test("knows nothing of what a store is built on", async () => {
    const files = [...new Glob("*.ts").scanSync(FOLDER)]
    const texts = await Promise.all(files.map((file) => Bun.file(join(FOLDER, file)).text()))
    // By its text, because a type is knowledge too.
    const paths = texts.flatMap((text) => [...text.matchAll(/\bfrom "([^"]+)"/g)].map(([, path = ""]) => path))
    expect(paths.length).toBeGreaterThan(files.length)
    expect(paths.filter((path) => /\/store\/|sqlite|drizzle|^node:|^bun$|support\/database/.test(path))).toEqual([])
  })
})
