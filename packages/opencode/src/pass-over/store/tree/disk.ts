import { closeSync, fsync, statfsSync } from "node:fs"
import { release } from "node:os"

/** From so many things on, a disk takes all of its file system at once faster than each of them. */
export const MANY = 256

// So many files are on their way to the disk at once: it writes them together.
const MOST_SYNCING = 32

// ext, xfs, btrfs, f2fs, tmpfs and overlay. Over a network or through a program of the user's, the one call that brings
// all of a file system to its disk may end before its far side has anything.
const WHOLE = new Set([0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x01021994, 0x794c7630])

// Before Linux 5.8 that call said that all was well, whatever the disk had said.
const tellsErrors = () => {
  const [major = 0, minor = 0] = release().split(".").map(Number)
  return major > 5 || (major === 5 && minor >= 8)
}

const syncOne = (fd: number) =>
  new Promise<void>((resolve, reject) => fsync(fd, (error) => (error ? reject(error) : resolve())))

async function all(work: Iterable<Promise<void>>) {
  const ended = await Promise.allSettled(work)
  const failed = ended.find((one) => one.status === "rejected")
  if (failed) throw failed.reason
}

/** Something that has to reach the disk and is closed by now: opens it once more, where it is still there. */
export type Again = () => number | undefined

/**
 * The way of a tree's writes to the disk. A few go there one by one; many go at once, with everything else that lies on
 * that file system: ten thousand new files took four seconds the one way and a tenth of one the other.
 */
export type Disk = {
  /** Whether all of the file system can be brought to the disk at once. */
  whole(): boolean
  /** Brings a file there and closes it. A failure is told to whoever waits for all of them. */
  file(fd: number, again?: Again): Promise<void>
  /** Comes when all of the files are there. */
  settled(): Promise<void>
  /** Brings open folders there, and such as are closed by now. */
  folders(open: readonly number[], closed: readonly Again[]): Promise<void>
}

function canWhole(root: number): boolean {
  if (process.platform !== "linux" || !tellsErrors()) return false
  try {
    return WHOLE.has(statfsSync(`/proc/self/fd/${root}`).type)
  } catch {
    return false
  }
}

// A program of its own: it may take a while, and Bun has no name for the call. The tree's root goes along open, so that
// nobody can have another file system brought there in its place.
async function syncWhole(root: number): Promise<boolean> {
  try {
    const child = Bun.spawn(["sync", "-f", "/dev/stdin"], { stdin: root, stdout: "ignore", stderr: "ignore" })
    return (await child.exited) === 0
  } catch {
    return false
  }
}

async function again(all: readonly Again[]) {
  for (const open of all) {
    const fd = open()
    if (fd === undefined) continue
    await syncOne(fd).finally(() => closeSync(fd))
  }
}

export function openDisk(root: number, many = MANY): Disk {
  const syncing = new Set<Promise<void>>()
  let later: Again[] = []
  let files = 0
  let can: boolean | undefined
  const whole = () => (can ??= canWhole(root))

  async function settled() {
    const [waiting, left] = [[...syncing], later]
    syncing.clear()
    later = []
    files = 0
    await all(waiting)
    if (left.length > 0 && !(await syncWhole(root))) await again(left)
  }

  return {
    whole,
    async file(fd, open) {
      files += 1
      if (open && files > many && whole()) {
        closeSync(fd)
        later.push(open)
        return
      }
      const done = syncOne(fd).finally(() => closeSync(fd))
      // Looked at in `settled`; until then it is nobody's unhandled rejection.
      done.catch(() => {})
      syncing.add(done)
      if (syncing.size < MOST_SYNCING) return
      const waiting = [...syncing]
      syncing.clear()
      await all(waiting)
    },
    settled,
    async folders(open, closed) {
      if (open.length + closed.length > many && whole() && (await syncWhole(root))) return
      await all(open.map(syncOne))
      await again(closed)
    },
  }
}
