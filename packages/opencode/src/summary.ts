import { randomBytes } from "node:crypto"
import { SummaryRequest } from "./pass-over/domain/output"
import { generateSummary as tell } from "./pass-over/service/summary"
import { tokens } from "./session/tokens"

/** A model of the caller's own. It answers with text; `max_tokens` is how long that may be. */
export type SummaryOptions = { generate?: (input: { prompt: string; max_tokens: number }) => Promise<string> }

/** Artifacts told in short: by the model that is given, and by rules without one, or where it fails or says nothing. */
export const generateSummary = async (request: SummaryRequest, { generate }: SummaryOptions = {}): Promise<string> =>
  tell(
    { host: generate ? { generate } : {}, tokens, nonce: () => randomBytes(16).toString("hex") },
    SummaryRequest.parse(request),
  )
