import { isAbsolute, relative, sep } from "node:path"
import type { Log, Notification, Result, Run } from "sarif"
import { version } from "../../package.json"
import type { FindingArtifact, Severity } from "../pass-over/domain/artifact"
import { findingsOf } from "../pass-over/domain/outcome"
import type { Pass } from "../pass-over/domain/pass"
import type { Outcome } from "../pass-over/service/port"

export const SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

const LEVEL = { error: "error", warning: "warning", info: "note" } as const satisfies Record<Severity, Result["level"]>

const ROOT = "SRCROOT"

/** A path as a URI reference that is relative to the project; one that leads elsewhere stays what it is. */
function uriOf(path: string, directory: string): { uri: string; uriBaseId?: string } {
  const inside = isAbsolute(path) ? relative(directory, path) : path
  const away = isAbsolute(inside) || inside.startsWith("..")
  const pieces = (away ? path : inside).split(sep).map(encodeURIComponent)
  // A first piece with a colon in it would be read as a scheme; that is encoded already.
  return away ? { uri: `file://${pieces.join("/")}` } : { uri: pieces.join("/"), uriBaseId: ROOT }
}

const textOf = ({ message, suggested_fix }: FindingArtifact) =>
  suggested_fix === undefined ? message : `${message}\n\nSuggested fix:\n${suggested_fix}`

function resultOf(finding: FindingArtifact, directory: string): Result[] {
  const { severity, category, location } = finding
  if (!location) return []
  const region = location.line === undefined ? undefined : { startLine: location.line, startColumn: location.column }
  const physicalLocation = {
    artifactLocation: uriOf(location.path, directory),
    ...(region ? { region: JSON.parse(JSON.stringify(region)) as typeof region } : {}),
  }
  const message = { text: textOf(finding) }
  return [{ ruleId: category, level: LEVEL[severity], message, locations: [{ physicalLocation }] }]
}

const noteOf = (finding: FindingArtifact): Notification => ({
  level: LEVEL[finding.severity],
  message: { text: textOf(finding) },
})

/** Findings that name no place. Code scanning refuses a whole file for one of them, so they are notes of the run. */
export const unplaced = (outcome: Outcome): FindingArtifact[] =>
  findingsOf(outcome.output).filter(({ location }) => !location)

/** The findings of a pass as other tools read them (SARIF 2.1.0). */
export function sarif(pass: Pass, outcome: Outcome): Log {
  const findings = findingsOf(outcome.output)
  const notes = unplaced(outcome).map(noteOf)
  const run: Run = {
    tool: {
      driver: {
        name: `pass-over/${pass.subagent_id}`,
        version,
        informationUri: "https://www.npmjs.com/package/opencode-pass-over",
        rules: [...new Set(findings.map(({ category }) => category))].map((id) => ({ id })),
      },
    },
    // Its `guid` would have to be a UUID of version 5 at most, and ours are of version 7.
    automationDetails: { id: `pass-over/${pass.subagent_id}/${pass.id}`, description: { text: pass.objective } },
    invocations: [
      {
        executionSuccessful: outcome.output.status === "completed",
        startTimeUtc: new Date(pass.time_created).toISOString(),
        ...(outcome.output.completion_reason ? { exitCodeDescription: outcome.output.completion_reason } : {}),
        ...(notes.length > 0 ? { toolExecutionNotifications: notes } : {}),
      },
    ],
    originalUriBaseIds: { [ROOT]: { description: { text: "The project." } } },
    columnKind: "unicodeCodePoints",
    results: findings.flatMap((finding) => resultOf(finding, pass.directory)),
  }
  return { version: "2.1.0", $schema: SARIF_SCHEMA, runs: [run] }
}
