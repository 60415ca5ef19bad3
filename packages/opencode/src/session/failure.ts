import type { AssistantMessage } from "@opencode-ai/sdk/v2"
import { PassOverErrorCode } from "../pass-over/domain/errors"
import type { Failure } from "../pass-over/domain/retry"

type HostError = NonNullable<AssistantMessage["error"]>

const message = (error: HostError) =>
  "message" in error.data && typeof error.data.message === "string" ? error.data.message : error.name

export const STOPPED: Failure = {
  code: PassOverErrorCode.CANCELLED,
  message: "its session was stopped",
  final: true,
}

/** What an error on a child's message means for its pass. */
export function toFailure(error: HostError): Failure {
  if (error.name === "MessageAbortedError") return STOPPED
  if (error.name === "ProviderAuthError") {
    return {
      code: PassOverErrorCode.SUBAGENT_CRASHED,
      message: `the provider refused the key: ${message(error)}`,
      final: true,
    }
  }
  if (error.name === "ContextOverflowError") {
    return { code: PassOverErrorCode.CONTEXT_OVERFLOW, message: message(error), final: true }
  }
  if (error.name === "APIError") {
    const status = error.data.statusCode
    const final = status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429
    return { code: PassOverErrorCode.SUBAGENT_CRASHED, message: `the provider failed: ${message(error)}`, final }
  }
  return { code: PassOverErrorCode.SUBAGENT_CRASHED, message: message(error) }
}
