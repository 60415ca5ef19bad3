import { expect, test } from "bun:test"
import { Glob } from "bun"
import { join } from "node:path"
import { suites } from "./suites"

const root = join(import.meta.dir, "../..")

test("every test of the project is in one suite, and in no other", () => {
  const taken = suites(root, "scratch").flatMap(({ cwd, args }) =>
    args.filter((arg) => arg.startsWith("./")).map((arg) => join(cwd, arg)),
  )
  // As `bun test` knows them. What is in the sample project is meant to fail.
  const files = ["packages/*/{src,test,script}/**", "script/**", "bench/**"]
    .flatMap((place) => [...new Glob(`${place}/*{.,_}{test,spec}.{ts,tsx,js,jsx,mjs}`).scanSync(root)])
    .filter((file) => !file.includes("node_modules/"))
  const times = new Set(
    files.map((file) => taken.filter((path) => file === path || file.startsWith(`${path}/`)).length),
  )
  expect(files.length).toBeGreaterThan(270)
  expect([...times]).toEqual([1])
})
