import { useQueryClient } from "@tanstack/solid-query"
import { createSignal } from "solid-js"
import type { Verdict } from "../../../opencode/src/pass-over/domain/change/review"
import { api } from "../lib/api"

/** What is done about the changes of a pass, one after the other, and what came of it. */
export function useDeeds(id: () => string) {
  const client = useQueryClient()
  const [error, setError] = createSignal<{ change_id: string; caught: unknown }>()
  const [busy, setBusy] = createSignal(false)
  /** What became of what was sent back. */
  const [sent, setSent] = createSignal<{ change_id: string; text: string }>()
  const done = async (change_id: string, work: () => Promise<unknown>) => {
    setBusy(true)
    setError(undefined)
    try {
      await work()
    } catch (caught) {
      setError({ change_id, caught })
    } finally {
      await client.invalidateQueries({ queryKey: ["pass", id()] })
      setBusy(false)
    }
  }
  const param = () => ({ id: id() })
  return {
    busy,
    error: (change_id: string) => (error()?.change_id === change_id ? error()?.caught : undefined),
    sent: (change_id: string) => (sent()?.change_id === change_id ? sent()?.text : undefined),
    review: (change_id: string, verdicts: Verdict[]) =>
      done(change_id, () => {
        setSent(undefined)
        return api[":id"].review.$post({ param: param(), json: { change_id, verdicts } })
      }),
    apply: (change_id: string, approval: string) =>
      done(change_id, () => api[":id"].apply.$post({ param: param(), json: { change_id, approval } })),
    sendBack: (change_id: string) =>
      done(change_id, async () => {
        const answer = await api[":id"]["send-back"].$post({ param: param(), json: { change_id } })
        setSent({ change_id, text: (await answer.json()).text })
      }),
    undo: (change_id: string) => done(change_id, () => api[":id"].undo.$post({ param: param(), json: {} })),
  }
}

export type Deeds = ReturnType<typeof useDeeds>
