/** Where a git command works. */
export type GitPlace = { git_dir?: string; work_tree?: string; index?: string; cwd: string }

export class GitError extends Error {
  override readonly name = "GitError"
}

// Nothing of the user's that runs programs: no hooks, no filters, no file monitor.
const QUIET = [
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "core.fsmonitor=false",
  "-c",
  "core.autocrlf=false",
  "-c",
  "core.safecrlf=false",
  "-c",
  "core.quotePath=false",
  "-c",
  "advice.addEmbeddedRepo=false",
  "-c",
  "gc.auto=0",
]

function environment({ git_dir, work_tree, index }: GitPlace) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"))
  return {
    ...Object.fromEntries(inherited),
    LC_ALL: "C",
    GIT_OPTIONAL_LOCKS: "0",
    ...(git_dir ? { GIT_DIR: git_dir } : {}),
    ...(work_tree ? { GIT_WORK_TREE: work_tree } : {}),
    ...(index ? { GIT_INDEX_FILE: index } : {}),
  }
}

export function spawnGit(place: GitPlace, args: readonly string[], stdin?: string) {
  return Bun.spawn(["git", ...QUIET, ...args], {
    cwd: place.cwd,
    env: environment(place),
    stdin: stdin === undefined ? "ignore" : Buffer.from(stdin),
    stdout: "pipe",
    stderr: "pipe",
  })
}

/** What a git command says, or an error with its last words. */
export async function git(place: GitPlace, args: readonly string[], stdin?: string): Promise<string> {
  const child = spawnGit(place, args, stdin)
  const [out, problem, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (code === 0) return out
  throw new GitError(`git ${args[0]} ended with ${code}: ${problem.trim().slice(-500)}`)
}
