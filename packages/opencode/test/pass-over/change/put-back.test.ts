import { expect, test } from "bun:test"
import { mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { putBack } from "../../../src/pass-over/service/change/put-back"
import { createChangeWorld, type ChangeWorld } from "../support/change"

/** A tree of a child's own beside the project. */
function tree(world: ChangeWorld, files: Record<string, string>) {
  const root = world.folder.at("tree")
  mkdirSync(root)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return {
    root,
    read: (path: string) => readFileSync(join(root, path), "utf8"),
    paths: () => (readdirSync(root, { recursive: true }) as string[]).toSorted(),
  }
}

const LINES = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`)
const BASE = LINES.join("")
const at = (line: number, text: string) =>
  LINES.map((each, index) => (index === line - 1 ? `${text}\n` : each)).join("")

test("what was proposed is in the tree again: made, changed, moved and taken away, with its modes", async () => {
  using world = await createChangeWorld()
  const change = await world.change([
    { path: "new/deep.bin", new: new Uint8Array([0, 1]) },
    { path: "a.txt", old: BASE, new: at(3, "three") },
    { path: "gone.txt", old: "bye\n" },
    { path: "to.txt", old_path: "from.txt", old: "same\n", new: "same\n" },
    { path: "run.sh", old: "echo\n", new: "echo\n", modes: ["100644", "100755"] },
  ])
  const { root, read, paths } = tree(world, {
    "a.txt": BASE,
    "gone.txt": "bye\n",
    "from.txt": "same\n",
    "run.sh": "echo\n",
  })
  expect(await putBack(world.deps, change, root)).toEqual([])
  expect(paths()).toEqual(["a.txt", "new", "new/deep.bin", "run.sh", "to.txt"])
  expect(read("a.txt")).toBe(at(3, "three"))
  expect(statSync(join(root, "run.sh")).mode & 0o111).toBe(0o111)
  // The user's own is not touched, and nothing is written down as applied.
  expect(world.paths()).toEqual([])
  expect(await world.store.applications({})).toEqual([])
})

test("on top of what the user has now it is merged, left where it is there already, and told where it does not fit", async () => {
  using world = await createChangeWorld()
  const change = await world.change([
    { path: "merged.txt", old: BASE, new: at(3, "three") },
    { path: "applied.txt", old: "old\n", new: "new\n" },
    { path: "clash.txt", old: BASE, new: at(3, "three") },
    { path: "gone.txt", old: "old\n", new: "new\n" },
    { path: "made.txt", new: "mine\n" },
    { path: "fits.txt", old: "old\n", new: "new\n" },
  ])
  const { root, read, paths } = tree(world, {
    "merged.txt": at(20, "twenty"),
    "applied.txt": "new\n",
    "clash.txt": at(3, "drei"),
    "made.txt": "theirs\n",
    "fits.txt": "old\n",
  })
  const notes = await putBack(world.deps, change, root)
  expect(notes).toEqual([
    "clash.txt as it was proposed before is not in the tree: both sides changed the same lines (from line 3 of the file as it was)",
    "gone.txt as it was proposed before is not in the tree: it has been deleted since",
    "made.txt as it was proposed before is not in the tree: a file is there already",
  ])
  expect([read("applied.txt"), read("clash.txt"), read("made.txt"), read("fits.txt")]).toEqual([
    "new\n",
    at(3, "drei"),
    "theirs\n",
    "new\n",
  ])
  expect(read("merged.txt")).toContain("three\n")
  expect(read("merged.txt")).toContain("twenty\n")
  expect(paths()).toHaveLength(5)
})

test("what is never written, or would lead out of the tree, is left out; the rest comes", async () => {
  using world = await createChangeWorld()
  const change = await world.change([
    {
      path: "link",
      new: "/etc/passwd",
      modes: ["100644", "120000"],
      refused: "symbolic links are shown and never written",
    },
    { path: "../beside.txt", new: "evil\n", refused: "it lies outside of the directory that was opened" },
    { path: "out/evil.txt", new: "evil\n" },
    { path: ".git/config", new: "evil\n" },
    { path: "good.txt", new: "good\n" },
  ])
  const { root, read, paths } = tree(world, {})
  symlinkSync(world.project, join(root, "out"))
  const notes = await putBack(world.deps, change, root)
  expect(notes).toHaveLength(4)
  expect(notes[1]).toContain("it lies outside of the directory that was opened")
  expect(notes.join("\n")).toContain("symbolic links are shown and never written")
  expect([paths(), read("good.txt"), world.paths()]).toEqual([["good.txt", "out"], "good\n", []])
})

test("contents that are not kept any more are told, and keep nothing else from coming back", async () => {
  using world = await createChangeWorld()
  const change = await world.change([
    { path: "a.txt", old: "old\n", new: "kept\n" },
    { path: "b.txt", new: "lost\n" },
  ])
  const { blob } = world.store
  const lost = change.files[1]?.new?.hash
  world.store.blob = async (hash) => (hash === lost ? undefined : blob(hash))
  const { root, read, paths } = tree(world, { "a.txt": "old\n" })
  const notes = await putBack(world.deps, change, root)
  expect(notes).toHaveLength(1)
  expect(notes[0]).toContain("b.txt as it was proposed before is not in the tree")
  expect([paths(), read("a.txt")]).toEqual([["a.txt"], "kept\n"])
})
