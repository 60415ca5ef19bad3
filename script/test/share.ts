/** Deals the test files of a folder into shares that can run side by side, each in a process of its own. */
import { Glob } from "bun"
import { join } from "node:path"

export type Deal = {
  /** A package, from the root on. */
  cwd: string
  /** Folders and files in it. */
  among: readonly string[]
  without?: readonly string[]
}

const under = (paths: readonly string[]) => (file: string) =>
  paths.some((path) => file === path || file.startsWith(`${path}/`))

/** Neighbours go into different shares: they are alike, and so is how long they take. */
export function deal(root: string, { cwd, among, without = [] }: Deal, shares: number): string[][] {
  const files = [...new Glob("**/*.test.ts").scanSync(join(root, cwd))]
    .filter((file) => !file.includes("node_modules/") && under(among)(file) && !under(without)(file))
    .toSorted()
  if (files.length === 0) throw new Error(`no tests in ${cwd}: ${among.join(", ")}`)
  return Array.from({ length: shares }, (_, share) =>
    files.filter((_, index) => index % shares === share).map((file) => `./${file}`),
  ).filter((files) => files.length > 0)
}
