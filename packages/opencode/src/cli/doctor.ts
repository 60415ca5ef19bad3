import { fail, type Check, type Finding, type Scene } from "./doctor/finding"
import { opencode, plugin } from "./doctor/host"
import { agents, preferences } from "./doctor/preferences"
import { clock, database, disk } from "./doctor/store"

const CHECKS: Record<string, Check> = { opencode, plugin, database, preferences, agents, disk, clock }

/** A check that itself goes wrong has found something, and keeps none of the others from looking. */
async function looked(name: string, check: Check, scene: Scene): Promise<Finding[]> {
  try {
    return await check(scene)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return [fail(name, `It could not be looked at: ${why}.`, "Look at what the message names.")]
  }
}

/** Looks at everything that has to be right for a pass to work. It changes nothing. */
export async function examine(scene: Scene, tell: (text: string) => void): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [name, check] of Object.entries(CHECKS)) {
    tell(`Looking at the ${name} …`)
    findings.push(...(await looked(name, check, scene)))
  }
  return findings
}
