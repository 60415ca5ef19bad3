import { useQuery, useQueryClient } from "@tanstack/solid-query"
import { createMemo, createSignal, For, Show } from "solid-js"
import type { Verdict } from "../../../opencode/src/pass-over/domain/change/review"
import type { Change } from "../../../opencode/src/server/schema-decide"
import { api } from "../lib/api"
import { WORDS } from "../lib/words"
import { all, chosen, hunks, share, standing, takes, toggle } from "./pass-over-change-view"
import { Empty, Failed } from "./state"

type Say = (verdicts: Verdict[]) => void

const SHARE = { all: "✓", part: "◐", none: "○" } as const

function FileChange(props: { file: Change["files"][number]; open: boolean; say: Say }) {
  const parts = createMemo(() => hunks(props.file.patch))
  const state = () => share(props.file)
  return (
    <details class="change" open={props.open}>
      <summary>
        <code>{props.file.path}</code> <span class="meta">{props.file.reason || props.file.line}</span>
      </summary>
      <Show
        when={props.file.refused === null}
        fallback={<p class="notice said">{`${WORDS.changes.refused} ${props.file.refused ?? ""}`}</p>}
      >
        <button
          type="button"
          class="button small"
          aria-pressed={state() === "all"}
          onClick={() => props.say([toggle(props.file, null)])}
        >
          <span aria-hidden="true">{SHARE[state()]}</span> {WORDS.changes.file[state()]}
        </button>
      </Show>
      <For each={parts()}>
        {(hunk) => (
          <div class="hunk" data-taken={takes(props.file, hunk.number)}>
            <Show when={props.file.refused === null && parts().length > 1}>
              <button
                type="button"
                class="button small"
                aria-pressed={takes(props.file, hunk.number)}
                onClick={() => props.say([toggle(props.file, hunk.number)])}
              >
                <span aria-hidden="true">{takes(props.file, hunk.number) ? "✓" : "○"}</span>{" "}
                {WORDS.changes.hunk(hunk.number, takes(props.file, hunk.number))}
              </button>
            </Show>
            <pre class="diff" tabindex="0" aria-label={`${props.file.path} ${hunk.number}`}>
              <For each={hunk.lines}>
                {(line) => (
                  <span data-sign={line.sign}>
                    {line.sign === "@" ? "" : line.sign} {line.text}
                    {"\n"}
                  </span>
                )}
              </For>
            </pre>
          </div>
        )}
      </For>
    </details>
  )
}

function useChange(id: () => string) {
  const client = useQueryClient()
  const [error, setError] = createSignal<unknown>()
  const [busy, setBusy] = createSignal(false)
  const done = async (work: () => Promise<unknown>) => {
    setBusy(true)
    setError(undefined)
    try {
      await work()
    } catch (caught) {
      setError(caught)
    } finally {
      await client.invalidateQueries({ queryKey: ["pass", id()] })
      setBusy(false)
    }
  }
  const param = () => ({ id: id() })
  return {
    error,
    busy,
    review: (change: Change, verdicts: Verdict[]) =>
      void done(() => api[":id"].review.$post({ param: param(), json: { change_id: change.change_id, verdicts } })),
    apply: ({ change_id, approval }: Change) =>
      void done(() => api[":id"].apply.$post({ param: param(), json: { change_id, approval: approval ?? "" } })),
    undo: () => void done(() => api[":id"].undo.$post({ param: param(), json: {} })),
  }
}

type Deeds = ReturnType<typeof useChange>

function Decide(props: { change: Change; deeds: Deeds }) {
  const stands = () => standing(props.change)
  return (
    <div class="actions decide">
      <Show
        when={stands()}
        fallback={
          <>
            <button
              type="button"
              class="button"
              onClick={() => props.deeds.review(props.change, all(props.change, true))}
            >
              {WORDS.changes.accept_all}
            </button>
            <button
              type="button"
              class="button primary"
              disabled={props.deeds.busy() || props.change.approval === null || chosen(props.change) === 0}
              onClick={() => props.deeds.apply(props.change)}
            >
              {WORDS.changes.apply(chosen(props.change))}
            </button>
          </>
        }
      >
        {(application) => (
          <>
            <p class="said">{WORDS.changes.applied(application().actor)}</p>
            <button type="button" class="button" disabled={props.deeds.busy()} onClick={() => props.deeds.undo()}>
              {WORDS.changes.undo}
            </button>
          </>
        )}
      </Show>
      <Show when={stands()?.verification}>
        {(check) => (
          <p class="meta" data-failed={check().exit_code !== 0}>
            <code>{check().command}</code> {WORDS.changes.exit(check().exit_code)}
          </p>
        )}
      </Show>
    </div>
  )
}

const FEW = 5

/** What a pass changed or proposes, file by file and hunk by hunk: taken, left, applied as it is shown, undone. */
export function PassChanges(props: { id: string }) {
  const deeds = useChange(() => props.id)
  const changes = useQuery(() => ({
    queryKey: ["pass", props.id, "changes"],
    queryFn: async () => (await api[":id"].changes.$get({ param: { id: props.id } })).json(),
  }))
  return (
    <Show when={(changes.data?.items.length ?? 0) > 0} fallback={<Empty title={WORDS.changes.none} />}>
      <For each={changes.data?.items}>
        {(change) => (
          <section>
            <h2 class="section-title">
              {WORDS.changes.title(change.files.length, WORDS.changes.origin[change.origin])}
            </h2>
            <For each={change.notes}>{(note) => <p class="hint said">{note}</p>}</For>
            <For each={change.files}>
              {(file) => (
                <FileChange
                  file={file}
                  open={change.files.length <= FEW}
                  say={(verdicts) => deeds.review(change, verdicts)}
                />
              )}
            </For>
            <Show when={change.problem}>{(problem) => <p class="hint said">{problem()}</p>}</Show>
            <Show when={deeds.error()}>{(caught) => <Failed error={caught()} />}</Show>
            <Decide change={change} deeds={deeds} />
          </section>
        )}
      </For>
    </Show>
  )
}
