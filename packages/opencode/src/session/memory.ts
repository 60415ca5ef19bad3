import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

// A shell that has nothing to do at its end becomes its last command; when that is ended by a signal, the host waits for
// it for minutes. With something to do, however little, it stays and says what happened.
const script = (megabytes: number) =>
  `trap : EXIT\n[ -n "$PASS_OVER_BASH_ENV" ] && . "$PASS_OVER_BASH_ENV"\nulimit -d ${megabytes * 1024}\n`

/**
 * What a command of a child's shell needs to be held to an amount of memory. The host gives a child no process of its
 * own, so the limit is set by the shell itself, from the file that bash reads before a command. It counts what a program
 * may write to and not what it reserves, because runtimes reserve far more than they use.
 */
export function memoryLimit(folder: string, megabytes: number, before: string | undefined): Record<string, string> {
  const path = join(folder, `limit-${megabytes}.sh`)
  const text = script(megabytes)
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(path, text, { mode: 0o600 })
  }
  return { BASH_ENV: path, ...(before && before !== path ? { PASS_OVER_BASH_ENV: before } : {}) }
}
