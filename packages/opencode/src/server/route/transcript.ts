import { Hono } from "hono"
import { transcriptItem } from "../../pass-over/domain/transcript"
import { answers, reads } from "../describe"
import type { Env, ServerDeps } from "../deps"
import * as Schema from "../schema"
import { Transcript, TranscriptQuery } from "../schema-transcript"
import { unknown } from "./pass"

/** What the child of a pass was told, said and did, as it was written down while it worked. */
export const transcriptRoutes = ({ engine }: ServerDeps) =>
  new Hono<Env>().get(
    "/:id/transcript",
    answers(
      {
        id: "getPassTranscript",
        tag: "passes",
        summary: "Read what a child was told, said and did",
        description:
          "Line by line, while it runs and afterwards. A line is written down when it is over and `at` says when it began, so sort by `at`. Long texts are cut: `more` is how many characters of them were not kept. An event `pass.said` or `pass.artifact` says that there is more to read.",
      },
      Transcript,
    ),
    reads("param", Schema.PassParam),
    reads("query", TranscriptQuery),
    async (c) => {
      const { id } = c.req.valid("param")
      const { cursor, limit } = c.req.valid("query")
      if (!(await engine.store.find(id))) throw unknown(id)
      const rows = await engine.store.transcript(id, { after: Number(cursor ?? 0), limit: limit + 1 })
      const shown = rows.slice(0, limit)
      const next = rows.length > limit ? String(shown.at(-1)?.seq) : null
      return c.json({ items: shown.flatMap(transcriptItem), next })
    },
  )
