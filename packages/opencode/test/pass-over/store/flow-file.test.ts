import { expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { createFlowFiles } from "../../../src/pass-over/store/flow-file"
import { flowTexts } from "../../../src/pass-over/store/flow-catalog"
import { createFolder } from "../support/folder"

test("a run's files are written below the project, whole, and git does not see those that are ours", () => {
  using folder = createFolder()
  const files = createFlowFiles(folder.path)
  files.write(".opencode/runs/run_1/x/handoffs/a-b.json", "one")
  files.write(".opencode/runs/run_1/x/handoffs/a-b.json", "two")
  expect(readFileSync(folder.at(".opencode/runs/run_1/x/handoffs/a-b.json"), "utf8")).toBe("two")
  expect(readFileSync(folder.at(".opencode/runs/.gitignore"), "utf8")).toBe("*\n")
  // The archive is the user's, who asked for it.
  files.write(".project/07-audit/sessions/s/handoffs/HO-001.yaml", "x")
  expect(existsSync(folder.at(".project/.gitignore"))).toBe(false)
  expect(readdirSync(folder.path, { recursive: true }).filter((name) => String(name).endsWith(".tmp"))).toEqual([])
  files.remove(".opencode/runs/run_1/x/handoffs/a-b.json")
  files.remove(".opencode/runs/none.json")
  expect(files.exists(".opencode/runs/run_1/x/handoffs/a-b.json")).toBe(false)
})

test("no name leads a write out of the project", () => {
  using folder = createFolder()
  using outside = createFolder()
  const files = createFlowFiles(folder.path)
  for (const path of ["../x", "a/../../x", "/etc/x", "a//b", "a/./b", "a\\b", "a\0b", "", "."])
    expect(() => files.write(path, "x")).toThrow()
  mkdirSync(folder.at(".opencode"))
  symlinkSync(outside.path, folder.at(".opencode/runs"))
  expect(() => files.write(".opencode/runs/run_1/a.json", "x")).toThrow("symbolic link")
  expect(readdirSync(outside.path)).toEqual([])
})

test("a link in the place of a file is replaced, and what it led to stays", () => {
  using folder = createFolder()
  using outside = createFolder()
  writeFileSync(outside.at("secret"), "kept")
  mkdirSync(folder.at("a"))
  symlinkSync(outside.at("secret"), folder.at("a/b.json"))
  createFlowFiles(folder.path).write("a/b.json", "ours")
  expect(readFileSync(outside.at("secret"), "utf8")).toBe("kept")
  expect(readFileSync(folder.at("a/b.json"), "utf8")).toBe("ours")
})

test("what agents name is only looked for inside the project", () => {
  using folder = createFolder()
  const files = createFlowFiles(folder.path)
  writeFileSync(folder.at("a.ts"), "x")
  expect(files.exists("a.ts")).toBe(true)
  expect(files.exists(folder.at("a.ts"))).toBe(true)
  expect(files.exists("../")).toBe(false)
  expect(files.exists("/etc/passwd")).toBe(false)
  expect(files.hash("a.ts")).toHaveLength(64)
  expect(files.hash("/etc/passwd")).toBeUndefined()
  expect(files.hash("none.ts")).toBeUndefined()
})

test("flows are read from their folder, and what is no file is one with nothing in it", () => {
  using folder = createFolder()
  expect(flowTexts(folder.path)).toEqual([])
  mkdirSync(folder.at(".opencode/flows/dir.yaml"), { recursive: true })
  writeFileSync(folder.at(".opencode/flows/b.json"), "{}")
  writeFileSync(folder.at(".opencode/flows/a.yml"), "name: a")
  writeFileSync(folder.at(".opencode/flows/readme.md"), "no")
  expect(flowTexts(folder.path).map(({ path, text }) => [path.split("/").at(-1), text])).toEqual([
    ["a.yml", "name: a"],
    ["b.json", "{}"],
    ["dir.yaml", ""],
  ])
})
