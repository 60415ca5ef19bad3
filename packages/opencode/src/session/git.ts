/** Where a git command works. */
export type GitPlace = { git_dir?: string; work_tree?: string; index?: string; cwd: string }

export class GitError extends Error {
  override readonly name = "GitError"
  constructor(
    message: string,
    /** What it ended with; nothing where it was ended. */
    readonly code?: number,
  ) {
    super(message)
  }
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
    GIT_TERMINAL_PROMPT: "0",
    ...(git_dir ? { GIT_DIR: git_dir } : {}),
    ...(work_tree ? { GIT_WORK_TREE: work_tree } : {}),
    ...(index ? { GIT_INDEX_FILE: index } : {}),
  }
}

type Running = { stdin?: string; timeout_ms?: number }

export function spawnGit(place: GitPlace, args: readonly string[], { stdin, timeout_ms }: Running = {}) {
  return Bun.spawn(["git", ...QUIET, ...args], {
    cwd: place.cwd,
    env: environment(place),
    stdin: stdin === undefined ? "ignore" : Buffer.from(stdin),
    stdout: "pipe",
    stderr: "pipe",
    ...(timeout_ms === undefined ? {} : { timeout: timeout_ms }),
  })
}

export type Said = { code: number; out: string; problem: string }

const failure = (args: readonly string[], { code, problem }: Said) =>
  new GitError(`git ${args[0]} ended with ${code}: ${problem.trim().slice(-500)}`, code)

/** All that a git command says, for who can go on after some of its errors: any other end than those is thrown. */
export async function tryGit(
  place: GitPlace,
  args: readonly string[],
  { may, ...running }: Running & { may: readonly number[] },
): Promise<Said> {
  const child = spawnGit(place, args, running)
  const said = Promise.all([child.stdout.text(), child.stderr.text()])
  const code = await child.exited
  // What it has started may still hold its output open.
  if (child.signalCode !== null) throw new GitError(`git ${args[0]} was ended by ${child.signalCode}`)
  const [out, problem] = await said
  const all = { code, out, problem }
  if (!may.includes(code)) throw failure(args, all)
  return all
}

/** What a git command says, or an error with its last words; also one that has not ended in time. */
export const git = async (place: GitPlace, args: readonly string[], running: Running = {}): Promise<string> =>
  (await tryGit(place, args, { ...running, may: [0] })).out
