import { writeFileSync } from "node:fs"
import { join } from "node:path"

/** Writes files that a README prints into a directory, all or the named ones, and gives their names. */
export async function writeExamples(readme: string, directory: string, ...only: string[]) {
  const text = await Bun.file(readme).text()
  const files = [...text.matchAll(/```ts\n\/\/ (\S+)\n([^]*?)```/g)].map(([, name = "", content = ""]) => ({
    name,
    content,
  }))
  const wanted = files.filter(({ name }) => only.length === 0 || only.includes(name))
  for (const { name, content } of wanted) writeFileSync(join(directory, name), content)
  return wanted.map(({ name }) => name)
}
