import { renameSync, writeFileSync } from "node:fs"
import { connect } from "../packages/opencode/src/session/client"
import { measure, type Plan } from "./turns"

/** Where a result goes and what is to be measured, as the benchmark says it to the opencode that it starts. */
export const DRIVE = "PASS_OVER_BENCH_DRIVE"
export type Drive = Plan & { out: string }

// By then the terminal is up.
const SETTLED_MS = 3_000

const driving = { on: false }

/** Prompts from inside of an opencode without a server: the client that it gives to plugins needs none. */
export default {
  id: "drive",
  server: async (input: Parameters<typeof connect>[0]) => {
    const given = process.env[DRIVE]
    if (given === undefined || driving.on) return {}
    driving.on = true
    const { out, ...plan }: Drive = JSON.parse(given)
    const tell = (result: unknown) => {
      writeFileSync(`${out}.draft`, JSON.stringify(result))
      renameSync(`${out}.draft`, out)
    }
    setTimeout(() => void measure(connect(input), plan).then(tell, (error) => tell(String(error))), SETTLED_MS)
    return {}
  },
}
