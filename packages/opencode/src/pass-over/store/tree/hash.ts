import type { Hasher } from "../../service/port-tree"

export const sha256Bytes = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex")

export function hasher(): Hasher {
  const inner = new Bun.CryptoHasher("sha256")
  return { update: (piece) => void inner.update(piece), digest: () => inner.digest("hex") }
}
