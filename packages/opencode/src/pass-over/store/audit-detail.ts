import type { WorkArtifact } from "../domain/artifact"
import type { Commit, OpenPass, Settled } from "../service/port"

// What a line may carry so that a lost database can be rebuilt from the lines alone, and no more: a log is read by people.
const LONGEST_TEXT = 8_000
const LARGEST_ARTIFACT = 4_000
const LARGEST_TOGETHER = 24_000

const short = (text: string) => (text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text)

/** The pass itself: its context stays out, which is large and was the session's own. */
export const passDetail = ({ pass, return_id, auto_return_enabled, auto_apply_enabled }: OpenPass) => ({
  pass: {
    ...pass,
    objective: short(pass.objective),
    background: pass.background === null ? null : short(pass.background),
  },
  return: { return_id, auto_return_enabled, auto_apply_enabled },
})

/** Where the return context has come to. */
export const moveDetail = ({ move, pass }: Pick<Commit, "move" | "pass">) => ({
  move: { to: move.to, revision: move.revision, child_session_id: pass.child_session_id },
})

/** What was found and decided, as far as it is short. Contents of files and what tools said are left out, and counted. */
function kept(artifacts: Settled["artifacts"]) {
  const list: { artifact_id: string; position: number; artifact: WorkArtifact }[] = []
  let size = 0
  for (const [position, { artifact_id, artifact }] of artifacts.entries()) {
    if (artifact.type === "file_modification" || artifact.type === "tool_result") continue
    const { length } = JSON.stringify(artifact)
    if (length > LARGEST_ARTIFACT || size + length > LARGEST_TOGETHER) continue
    size += length
    list.push({ artifact_id, position, artifact })
  }
  return list
}

export function outcomeDetail(input: Settled) {
  const { artifacts: _artifacts, summary, ...output } = input.output
  const artifacts = kept(input.artifacts)
  const findings = summary.findings.slice(0, 100).map((finding) => finding.slice(0, 500))
  return {
    ...moveDetail(input),
    outcome: {
      output: { ...output, summary: { ...summary, findings } },
      usage: input.usage,
      delivery: input.delivery,
      artifacts,
      artifacts_omitted: input.artifacts.length - artifacts.length,
    },
  }
}
