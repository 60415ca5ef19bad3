import { fence, freshNonce } from "../domain/fence"
import type { SummaryRequest } from "../domain/output"
import { SUMMARY_TOKENS, summarise, summaryPrompt, within } from "../domain/summary"
import type { Tokens } from "./port"
import type { Host } from "./port-host"

const LABEL = "pass-over-artifacts"

export type SummaryDeps = {
  host: Pick<Host, "generate">
  tokens: Tokens
  nonce: () => string
}

/**
 * The architecture's generateSummary, §8.1: told by the user's small model, within `max_length` tokens by an exact
 * count. Without a model, or where it fails or says nothing, it is told by rules.
 */
export async function generateSummary(deps: SummaryDeps, request: SummaryRequest): Promise<string> {
  const count = await deps.tokens()
  const max = request.max_length ?? SUMMARY_TOKENS
  const told = request.artifacts.length === 0 ? undefined : await ask(deps, request, max)
  const short = told === undefined ? "" : within(told, max, count)
  return short || summarise(request, count)
}

async function ask({ host, nonce }: SummaryDeps, request: SummaryRequest, max_tokens: number) {
  if (!host.generate) return undefined
  const fenced = (text: string) => fence(LABEL, freshNonce(text, nonce), text)
  return host.generate({ prompt: summaryPrompt(request, fenced), max_tokens }).then(
    (text) => text.trim() || undefined,
    () => undefined,
  )
}
