import { afterAll, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { memoryLimit } from "../../src/session/memory"

const folder = mkdtempSync(join(tmpdir(), "pass-over-memory-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function bash(command: string, before?: string) {
  const env = { ...process.env, ...memoryLimit(folder, 200, before) }
  const { exitCode, signalCode, stdout } = Bun.spawnSync(["bash", "-c", command], { env, stderr: "ignore" })
  return { exit: exitCode, signal: signalCode, out: stdout.toString().trim() }
}

test("a shell has its limit, and its command's exit code", () => {
  expect(bash("ulimit -d").out).toBe("204800")
  expect(bash("exit 7").exit).toBe(7)
  expect(bash("false").exit).toBe(1)
  expect(bash("true").exit).toBe(0)
})

test("a command that is ended by a signal leaves its shell to say so: the host would wait for it", () => {
  const ended = bash("sh -c 'kill -SEGV $$'")
  expect([ended.exit, ended.signal]).toEqual([139, undefined])
})

test("what the user has set for every shell is read first, and its trap stays", () => {
  const own = join(folder, "own.sh")
  writeFileSync(own, 'export MINE=1\ntrap "echo bye" EXIT\n')
  expect(bash("echo $MINE", own).out).toBe("1\nbye")
})

test("a file of an earlier version is written anew", () => {
  writeFileSync(join(folder, "limit-200.sh"), "exit 9\n")
  expect(bash("true").exit).toBe(0)
})
