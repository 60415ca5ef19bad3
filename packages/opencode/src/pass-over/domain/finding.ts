import { bySeverity, place, type FindingArtifact, type WorkArtifact } from "./artifact"

const key = ({ location, message }: FindingArtifact) =>
  `${place(location)}\n${message
    .replaceAll(/\s+/g, " ")
    .trim()
    .toLowerCase()
    .replace(/[.!]+$/, "")}`

/** Findings that say the same of the same place, as one: the worst severity holds, and no fix is lost. */
export function mergeFindings(findings: readonly FindingArtifact[]): FindingArtifact[] {
  const merged = new Map<string, FindingArtifact>()
  for (const finding of findings) {
    const known = merged.get(key(finding))
    if (!known) {
      merged.set(key(finding), finding)
      continue
    }
    const [worst = known] = [known, finding].toSorted(bySeverity)
    const suggested_fix = known.suggested_fix ?? finding.suggested_fix
    merged.set(key(finding), {
      ...known,
      severity: worst.severity,
      ...(suggested_fix === undefined ? {} : { suggested_fix }),
    })
  }
  return [...merged.values()].toSorted(bySeverity)
}

/** A report's findings, merged, and after them what else it gave: a finding among that is not told twice. */
export function withMerged(findings: readonly FindingArtifact[], given: readonly WorkArtifact[]): WorkArtifact[] {
  const all = mergeFindings([...findings, ...given.filter((artifact) => artifact.type === "finding")])
  const told = new Set(findings.map(key))
  const rest = given.flatMap((artifact): WorkArtifact[] => {
    if (artifact.type !== "finding") return [artifact]
    if (told.has(key(artifact))) return []
    told.add(key(artifact))
    return all.filter((one) => key(one) === key(artifact))
  })
  const first = new Set(findings.map(key))
  return [...all.filter((one) => first.has(key(one))), ...rest]
}
