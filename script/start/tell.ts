import { place } from "../../packages/opencode/src/pass-over/domain/artifact"
import { headline } from "../../packages/opencode/src/pass-over/domain/envelope"
import { describeManifest } from "../../packages/opencode/src/pass-over/domain/manifest"
import { findingsOf } from "../../packages/opencode/src/pass-over/domain/outcome"
import { readable } from "../../packages/opencode/src/pass-over/domain/time"
import { PROMPT, type Story } from "./story"

const colour = process.stdout.isTTY && !process.env.NO_COLOR
const strong = (text: string) => (colour ? `\u001b[1m${text}\u001b[0m` : text)
const dim = (text: string) => (colour ? `\u001b[2m${text}\u001b[0m` : text)

const row = (name: string, text: string) => `  ${dim(name.padEnd(16))}${text}`
const more = (text: string) => row("", text)

function passed({ pass, manifest }: Story): string[] {
  if (!pass) return []
  return [
    row("alice passes", `to ${pass.subagent_id}: “${pass.objective}”`),
    ...(manifest ? [more(`along went ${describeManifest(manifest)}`)] : []),
    more(
      `policy ${pass.policy}, ${readable(pass.timeout_ms)} at most, chain ${[...pass.ancestors, pass.subagent_id].join(" → ")}`,
    ),
  ]
}

function returned({ outcome }: Story): string[] {
  if (!outcome) return [row("came back", "nothing: no pass was made")]
  const { output, usage } = outcome
  const tools = output.artifacts.flatMap((artifact) => (artifact.type === "tool_result" ? [artifact.tool_name] : []))
  return [
    row(`${output.subagent_id} worked`, tools.length > 0 ? `with ${tools.join(", ")}` : "without tools"),
    row("came back", strong(headline(output, usage.cost))),
    ...(output.summary.decision_reason ? [more(output.summary.decision_reason)] : []),
    ...findingsOf(output).map((finding) => more(`${finding.severity} ${place(finding.location)} ${finding.message}`)),
    more(`${usage.input.toLocaleString("en")} tokens in, ${usage.output.toLocaleString("en")} out`),
  ]
}

/** The story in words and numbers that need no manual. */
export function tell(story: Story): string {
  const own = story.did.filter((step) => step.tool !== "pass_over")
  return [
    "",
    strong("Pass Over: Alice hands a piece of work to Audit and gets one checked outcome back"),
    "",
    row("you", `“${PROMPT}”`),
    ...passed(story),
    ...returned(story),
    ...own.map((step, index) =>
      row(index === 0 ? "alice then" : "", `${step.tool} ${step.what} ${step.ok ? "" : "(failed)"}`.trim()),
    ),
    ...(story.said ? [row("alice says", `“${story.said}”`)] : []),
    "",
    row("written down", story.audit.map((line) => line.action).join(" → ") || "nothing"),
    ...(story.pass ? [more(`pass ${story.pass.id}, ${story.pass.status}`)] : []),
    row("run on", `opencode ${story.opencode} with ${story.model}, in ${readable(story.took_ms)}`),
    ...(story.pass ? [row("panel", "npm run panel shows all of it in the browser")] : []),
    ...(story.trouble ? ["", "What went wrong:", story.trouble] : []),
    "",
  ].join("\n")
}
