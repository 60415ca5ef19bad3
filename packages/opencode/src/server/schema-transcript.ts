import { z } from "zod"
import { TranscriptItem } from "../pass-over/domain/transcript"
import { Limit, named, page } from "./schema"

const Place = z.string().regex(/^\d{1,15}$/)

export const TranscriptQuery = z.strictObject({
  cursor: Place.optional().describe("`next` of the page before, or the `seq` of the last line that is known already."),
  limit: Limit,
})

export const Transcript = page("Transcript", named("TranscriptItem", TranscriptItem))
