import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import { chmodSync, closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs"
import { PassOverError, PassOverErrorCode } from "../domain/errors"

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

export type Seal = {
  seal(plain: Uint8Array, name: string): Buffer
  open(sealed: Uint8Array, name: string): Buffer
}

const unusable = (path: string, why: string) =>
  new PassOverError(PassOverErrorCode.RESOURCE_EXHAUSTED, `The key of stored file contents, ${path}, ${why}.`, {
    recoverable: false,
    suggestedAction: "Put the file back from a backup; without it, contents that were stored before cannot be read.",
  })

function read(path: string): Buffer | undefined {
  try {
    const key = readFileSync(path)
    if (key.length !== KEY_BYTES) throw unusable(path, "is damaged")
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600)
    return key
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return
    throw error
  }
}

/** Made under another name and linked into its place: of two processes that come at once, one makes it and both use it. */
function make(path: string): Buffer {
  const draft = `${path}.${process.pid}.${randomBytes(6).toString("hex")}`
  const file = openSync(draft, "wx", 0o600)
  try {
    writeSync(file, randomBytes(KEY_BYTES))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  try {
    linkSync(draft, path)
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error
  } finally {
    rmSync(draft)
  }
  const key = read(path)
  if (!key) throw unusable(path, "is gone")
  return key
}

/** AES-256-GCM with a key in a file of its own beside the database. A piece is bound to its name: it opens nowhere else. */
export function createSeal(database: string): Seal {
  let key: Buffer | undefined
  const known = () => {
    if (database === ":memory:") return (key ??= randomBytes(KEY_BYTES))
    return (key ??= read(`${database}.key`) ?? make(`${database}.key`))
  }
  return {
    seal(plain, name) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv("aes-256-gcm", known(), nonce).setAAD(Buffer.from(name))
      const body = [cipher.update(plain), cipher.final()]
      return Buffer.concat([nonce, cipher.getAuthTag(), ...body])
    },
    open(sealed, name) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
      const nonce = bytes.subarray(0, NONCE_BYTES)
      const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
      const decipher = createDecipheriv("aes-256-gcm", known(), nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(name)).setAuthTag(tag)
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
    },
  }
}
