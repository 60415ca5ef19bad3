/** A few where every run has to pass by, all of it by `bun script/proof.ts`. */
export const scale = (few: number, all: number) => (process.env["PASS_OVER_PROOF"] === "all" ? all : few)

/** A whole proof takes minutes. */
export const PATIENCE_MS = scale(60_000, 1_800_000)

/** What a proof has seen, for whoever runs all of it. */
export const report = (what: string, seen: unknown) => {
  if (process.env["PASS_OVER_PROOF"] === "all") console.log(`${what}: ${JSON.stringify(seen)}`)
}
