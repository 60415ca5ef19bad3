import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve, sep } from "node:path"
import { seed } from "./layout"

export type ProjectInput = { directory: string; env: Record<string, string>; version: string }

export type Project = ReturnType<typeof openProject>

// What a seeded config directory holds is not the project's.
const IGNORED = ["node_modules", "package.json", "package-lock.json", ".gitignore"]

/** The git repository that opencode works in. */
export function openProject({ directory, env, version }: ProjectInput) {
  const inside = (file: string) => {
    const path = resolve(directory, file)
    if (relative(directory, path).startsWith("..")) throw new Error(`${file} is outside the project`)
    return path
  }

  const read = (file: string) => readFileSync(inside(file), "utf8")

  const write = (file: string, content: string) => {
    const path = inside(file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    const parts = path.split(sep)
    const at = parts.lastIndexOf(".opencode")
    if (at > 0) seed(parts.slice(0, at + 1).join(sep), version)
  }

  const git = (...args: string[]) => {
    const result = Bun.spawnSync(["git", ...args], { cwd: directory, env })
    if (result.exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${result.stderr.toString().trim()}`)
    return result.stdout.toString()
  }

  /** The repository and its first commit. */
  const begin = (files: Record<string, string>) => {
    git("init", "--quiet", "--initial-branch=main")
    // Not a .gitignore, which would be the project's; and this one counts for its worktrees too.
    writeFileSync(join(directory, ".git/info/exclude"), IGNORED.map((name) => `.opencode/${name}\n`).join(""))
    for (const [file, content] of Object.entries(files)) write(file, content)
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "--message=Start")
  }

  return { read, write, git, begin }
}
