import { describeRoute, resolver, validator } from "hono-openapi"
import type { z } from "zod"
import { HttpError } from "./failure"
import { Failure } from "./schema"

const json = (schema: z.ZodType) => ({ "application/json": { schema: resolver(schema) } })

export const FAILURES = {
  400: { description: "The request is not as it should be; the message says where.", content: json(Failure) },
  401: { description: "The secret is missing or wrong.", content: json(Failure) },
  "4XX": { description: "It was refused: the code and the sentence say why.", content: json(Failure) },
  "5XX": { description: "It could not be done.", content: json(Failure) },
}

export type Route = {
  id: string
  tag: string
  summary: string
  description?: string
  open?: boolean
  accepted?: boolean
}

/** What a route answers, for the document that is generated from it. */
export const answers = (route: Route, schema: z.ZodType, more: Record<string, string> = {}) =>
  describeRoute({
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    description: route.description ?? `${route.summary}.`,
    ...(route.open ? { security: [] } : {}),
    responses: {
      [route.accepted ? 202 : 200]: { description: route.accepted ? "Taken on." : "Done.", content: json(schema) },
      ...Object.fromEntries(
        Object.entries(more).map(([status, description]) => [status, { description, content: json(schema) }]),
      ),
      ...FAILURES,
    },
  })

/** A route whose answer is no JSON. */
export const answersText = (route: Route, type: string, description: string) =>
  describeRoute({
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    description: route.description ?? `${route.summary}.`,
    responses: { 200: { description, content: { [type]: { schema: { type: "string" } } } }, ...FAILURES },
  })

/** Reads a part of the request by a schema of the domain's; what does not fit is refused with what is wrong and where. */
export const reads = <T extends "query" | "param" | "json", S extends z.ZodType>(target: T, schema: S) =>
  validator(target, schema, (result) => {
    if (result.success) return
    const problems = result.error.map((issue) => {
      const path = (issue.path ?? []).map((key) => (typeof key === "object" ? String(key.key) : String(key))).join(".")
      return path ? `${path}: ${issue.message}` : issue.message
    })
    throw new HttpError("BAD_REQUEST", problems.join("; "), undefined, { problems })
  })
