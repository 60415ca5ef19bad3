import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, truncateSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A disk of the test's own, which only root can mount. */
export type Disk = Disposable & {
  folder: string
  at(name: string): string
}

export type TmpDisk = Disk & {
  /** Takes the last byte of it. */
  fill(): void
  free(): void
  /** Only while nobody has a file open there for writing. */
  readOnly(): void
  writable(): void
}

const run = (...command: string[]) => Bun.spawnSync(command, { stdout: "ignore", stderr: "pipe" })

function sure(...command: string[]) {
  const { exitCode, stderr } = run(...command)
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString().trim()}`)
}

function mounted(options: readonly string[], prepare: (folder: string) => string): Disk {
  const root = mkdtempSync(join(tmpdir(), "pass-over-disk-"))
  const folder = mkdtempSync(join(root, "at-"))
  try {
    sure("mount", ...options, prepare(root), folder)
  } catch (error) {
    rmSync(root, { recursive: true, force: true })
    throw error
  }
  return {
    folder,
    at: (name) => join(folder, name),
    [Symbol.dispose]() {
      // Whoever still has a file open there goes on with it, and the disk is gone when they end.
      if (run("umount", folder).exitCode !== 0) run("umount", "-l", folder)
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** A small disk that can be filled, and be made read-only before anybody has it open. */
export function createDisk(size: string): TmpDisk {
  const disk = mounted(["-t", "tmpfs", "-o", `size=${size}`], () => "tmpfs")
  const ballast = disk.at("ballast")
  return {
    ...disk,
    fill() {
      const file = openSync(ballast, "a")
      for (const bytes of [64 * 1024, 4 * 1024, 1]) {
        try {
          for (;;) writeSync(file, Buffer.alloc(bytes))
        } catch {
          // Less may still fit.
        }
      }
      closeSync(file)
      if (statfsSync(disk.folder).bavail > 0) throw new Error("there is still room")
    },
    free: () => rmSync(ballast, { force: true }),
    readOnly: () => sure("mount", "-o", "remount,ro", disk.folder),
    writable: () => sure("mount", "-o", "remount,rw", disk.folder),
  }
}

/** A disk that turns read-only under whoever writes there, as a real one does when it has found itself damaged. */
export function createBrittleDisk(): Disk & { turn(): void } {
  const disk = mounted(["-o", "loop,errors=remount-ro"], (root) => {
    const image = join(root, "image")
    closeSync(openSync(image, "w"))
    truncateSync(image, 32 * 1024 * 1024)
    sure("mkfs.ext4", "-q", "-F", image)
    return image
  })
  return { ...disk, turn: () => sure("mount", "-o", "remount,abort", disk.folder) }
}

/** Why there is no such disk here, for the title of a test that is left out; empty where there is one. */
export function missing(make: () => Disk): string {
  if (process.getuid?.() !== 0) return " (not here: only root can mount a disk)"
  try {
    make()[Symbol.dispose]()
    return ""
  } catch {
    return " (not here: such a disk cannot be mounted)"
  }
}
