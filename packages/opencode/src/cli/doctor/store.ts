import { accessSync, constants, existsSync, statfsSync } from "node:fs"
import { dirname } from "node:path"
import { readable } from "../../pass-over/domain/time"
import { checkDatabase } from "../../pass-over/store/check"
import { UPDATE } from "../../pass-over/store/write"
import { databasePath } from "../../paths"
import { fail, ok, warn, type Check, type Finding } from "./finding"

function writable(folder: string): boolean {
  const at = existsSync(folder) ? folder : dirname(folder)
  if (at === folder || existsSync(at)) {
    try {
      accessSync(at, constants.W_OK)
      return true
    } catch {
      return false
    }
  }
  return writable(at)
}

const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`

export const database: Check = ({ now }) => {
  const path = databasePath()
  const found = checkDatabase(path)
  if (found.state === "absent") {
    return writable(dirname(path))
      ? [ok("database", `${path} is not there yet; the first pass makes it.`)]
      : [
          fail(
            "database",
            `${dirname(path)} cannot be written.`,
            "Make it writable, or set PASS_OVER_DB to another place.",
          ),
        ]
  }
  if (found.state === "busy") return [warn("database", `${path} is held by another process.`, "Try again in a moment.")]
  if (found.state === "barred") return [fail("database", found.message, found.advice)]
  if (found.state === "broken") {
    return [
      fail(
        "database",
        `${path} cannot be read (${found.problem}).`,
        "Move it away; the next start makes a new one, and pass-over audit restore brings the history back.",
      ),
    ]
  }
  const findings: Finding[] = []
  if (found.damage.length > 0) {
    findings.push(
      fail(
        "database",
        `${path} is damaged: ${found.damage[0]}`,
        "Move it away; the next start makes a new one, and pass-over audit restore brings the history back.",
      ),
    )
  }
  if (found.newer)
    findings.push(fail("database", `${path} was changed by a newer Pass Over; this one only reads it.`, UPDATE))
  if (process.platform !== "win32" && (found.mode & 0o077) !== 0) {
    findings.push(
      warn(
        "database",
        `${path} can be read by other users of this machine, and conversations are in it.`,
        `chmod 600 ${path}`,
      ),
    )
  }
  if (findings.length === 0) {
    const running = found.open > 0 ? `, ${found.open} not ended` : ""
    findings.push(ok("database", `${path}, passes: ${found.passes}${running}, ${megabytes(found.bytes)}`))
  }
  if (found.latest !== undefined && found.latest > now + 60_000) {
    findings.push(
      warn(
        "clock",
        `The latest pass lies ${readable(found.latest - now)} in the future.`,
        "Set the clock of this machine; deadlines do not depend on it, times in lists do.",
      ),
    )
  }
  return findings
}

const nearestFolder = (path: string): string => (existsSync(path) ? path : nearestFolder(dirname(path)))

export const disk: Check = () => {
  const folder = nearestFolder(dirname(databasePath()))
  try {
    const { bavail, bsize } = statfsSync(folder)
    const free = bavail * bsize
    if (free < 50_000_000)
      return [
        fail(
          "disk",
          `Only ${megabytes(free)} are free in ${folder}.`,
          "Free some space: without it no pass can be written down.",
        ),
      ]
    if (free < 500_000_000) return [warn("disk", `Only ${megabytes(free)} are free in ${folder}.`, "Free some space.")]
    return [ok("disk", `${(free / 1e9).toFixed(1)} GB free`)]
  } catch (error) {
    return [warn("disk", `How much is free in ${folder} cannot be told (${String(error)}).`, "Look for yourself.")]
  }
}

// Before this nothing of ours existed, so a clock that says so is wrong.
const EARLIEST = Date.UTC(2026, 0, 1)

export const clock: Check = ({ now }) =>
  now < EARLIEST
    ? [fail("clock", `This machine believes it is ${new Date(now).toISOString().slice(0, 10)}.`, "Set its clock.")]
    : [ok("clock", `${new Date(now).toISOString().slice(0, 16).replace("T", " ")} UTC`)]
