import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"

export type FlowText = { path: string; text: string }

const EXTENSION = /\.(?:ya?ml|json)$/
const LARGEST = 1_000_000
const MOST = 500

export const flowFolder = (directory: string) => join(directory, ".opencode", "flows")

/** The texts of a project's flows, by name. A file that cannot be read is one with nothing in it. */
export function flowTexts(directory: string): FlowText[] {
  const folder = flowFolder(directory)
  const names = (() => {
    try {
      return readdirSync(folder)
    } catch {
      return []
    }
  })()
  return names
    .filter((name) => EXTENSION.test(name))
    .toSorted()
    .slice(0, MOST)
    .map((name) => {
      const path = join(folder, name)
      try {
        const found = statSync(path)
        return { path, text: found.isFile() && found.size <= LARGEST ? readFileSync(path, "utf8") : "" }
      } catch {
        return { path, text: "" }
      }
    })
}
