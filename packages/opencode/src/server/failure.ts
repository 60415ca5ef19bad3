import type { Context } from "hono"
import { HTTPException } from "hono/http-exception"
import type { ContentfulStatusCode } from "hono/utils/http-status"
import { ERRORS, PassOverError, type PassOverErrorCode, type Refusal } from "../pass-over/domain/errors"

/** What can be wrong with a request before the core has heard of it. */
export const HttpCode = {
  BAD_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NO_SUCH_ROUTE: 404,
  METHOD_NOT_ALLOWED: 405,
  TOO_LARGE: 413,
  NOT_JSON: 415,
  INTERNAL: 500,
} as const satisfies Record<string, ContentfulStatusCode>
export type HttpCode = keyof typeof HttpCode

// One line a code: a code without a status does not compile.
const STATUS: Record<PassOverErrorCode, ContentfulStatusCode> = {
  E001: 422,
  E002: 409,
  E003: 409,
  E004: 403,
  E010: 504,
  E011: 502,
  E012: 422,
  E013: 403,
  E014: 503,
  E015: 409,
  E016: 409,
  E017: 403,
  E020: 410,
  E021: 422,
  E022: 504,
  E030: 422,
  E031: 409,
  E040: 409,
  E041: 409,
  E042: 404,
}

export const statusOf = (code: PassOverErrorCode) => STATUS[code]

export type Failure = {
  error: {
    code: string
    message: string
    suggestion?: string | undefined
    detail?: Record<string, unknown> | undefined
  }
}

/** A request that goes no further, thrown wherever that is found out. */
export class HttpError extends Error {
  constructor(
    readonly code: HttpCode,
    message: string,
    readonly suggestion?: string,
    readonly detail?: Record<string, unknown>,
  ) {
    super(message)
  }
}

const SUGGESTIONS: Partial<Record<HttpCode, string>> = {
  UNAUTHENTICATED: "Send the secret as `Authorization: Bearer …`, or open the panel anew with `pass-over open`.",
  NO_SUCH_ROUTE: "GET /api/pass-over/openapi.json lists all routes.",
  METHOD_NOT_ALLOWED: "The header Allow names what it answers.",
}

const empty = (detail: Record<string, unknown> | undefined) => detail === undefined || Object.keys(detail).length === 0

/** The one shape of everything that goes wrong. What nobody foresaw is named as such and shows nothing of its inside. */
export function failure(error: unknown): { status: ContentfulStatusCode; body: Failure } {
  if (error instanceof HttpError) {
    const { code, message, detail } = error
    const suggestion = error.suggestion ?? SUGGESTIONS[code]
    return {
      status: HttpCode[code],
      body: {
        error: { code, message, ...(suggestion ? { suggestion } : {}), ...(empty(detail) ? {} : { detail }) },
      },
    }
  }
  if (error instanceof PassOverError) {
    const { code, message, suggestedAction, context } = error
    return {
      status: statusOf(code),
      body: { error: { code, message, suggestion: suggestedAction, ...(empty(context) ? {} : { detail: context }) } },
    }
  }
  // Hono's own way to say that a body is no JSON.
  if (error instanceof HTTPException && error.status === 400) {
    return { status: 400, body: { error: { code: "BAD_REQUEST", message: "The body is not valid JSON." } } }
  }
  return {
    status: 500,
    body: { error: { code: "INTERNAL", message: "Something went wrong here. The log of the server says what." } },
  }
}

export function refused(refusal: Refusal): PassOverError {
  return new PassOverError(refusal.code, refusal.message, {
    suggestedAction: refusal.suggestion ?? ERRORS[refusal.code].action,
    context: refusal.detail,
  })
}

export const respond = (c: Context, error: unknown) => {
  const { status, body } = failure(error)
  return c.json(body, status)
}
