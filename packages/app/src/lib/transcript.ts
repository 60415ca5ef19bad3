import { useQuery, useQueryClient } from "@tanstack/solid-query"
import type { TranscriptItem } from "../../../opencode/src/pass-over/domain/transcript"
import { api } from "./api"

const LIMIT = "500"

/** What is not known yet; what is written down does not change any more. */
async function more(id: string, known: readonly TranscriptItem[]): Promise<TranscriptItem[]> {
  const items = [...known]
  let cursor = String(known.at(-1)?.seq ?? 0)
  for (;;) {
    const page = await (await api[":id"].transcript.$get({ param: { id }, query: { limit: LIMIT, cursor } })).json()
    items.push(...page.items)
    if (page.next === null) return items
    cursor = page.next
  }
}

/** The transcript of a pass; each time that it is asked for again only what has come since. */
export function useTranscript(id: () => string) {
  const client = useQueryClient()
  return useQuery(() => {
    const queryKey = ["transcript", id()]
    return {
      queryKey,
      queryFn: () => more(id(), client.getQueryData<TranscriptItem[]>(queryKey) ?? []),
      structuralSharing: false,
    }
  })
}
