import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { z } from "zod"

/** Where the server of this user listens. It is a hint: who is really there has to prove it. */
export const Address = z.strictObject({ port: z.int().min(1).max(65_535), pid: z.int(), version: z.string() })
export type Address = z.infer<typeof Address>

const fileOf = (folder: string) => join(folder, "serve.json")

/** The folder of the server's own files, beside the database that it serves. */
export const folderOf = (database: string) => join(dirname(database), "pass-over")

export function readAddress(folder: string): Address | undefined {
  try {
    return Address.parse(JSON.parse(readFileSync(fileOf(folder), "utf8")))
  } catch {
    return undefined
  }
}

export function writeAddress(folder: string, address: Address) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const fresh = `${fileOf(folder)}.${process.pid}.new`
  writeFileSync(fresh, JSON.stringify(address), { mode: 0o600 })
  renameSync(fresh, fileOf(folder))
}

export const forget = (folder: string) => rmSync(fileOf(folder), { force: true })
