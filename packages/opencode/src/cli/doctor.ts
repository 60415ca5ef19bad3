import type { Check, Finding, Scene } from "./doctor/finding"
import { opencode, plugin } from "./doctor/host"
import { agents, preferences } from "./doctor/preferences"
import { clock, database, disk } from "./doctor/store"

const CHECKS: Record<string, Check> = { opencode, plugin, database, preferences, agents, disk, clock }

/** Looks at everything that has to be right for a pass to work. It changes nothing. */
export async function examine(scene: Scene, tell: (text: string) => void): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [name, check] of Object.entries(CHECKS)) {
    tell(`Looking at the ${name} …`)
    findings.push(...(await check(scene)))
  }
  return findings
}
