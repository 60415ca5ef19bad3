import { useQuery } from "@tanstack/solid-query"
import { createMemo, For, Match, Show, Switch } from "solid-js"
import type { Explanation } from "../../../opencode/src/pass-over/domain/explain"
import { api } from "../lib/api"
import { shortPath } from "../lib/format"
import { useProjects } from "../lib/projects"
import { go, place } from "../lib/route"
import { WORDS } from "../lib/words"
import { PairEditor } from "./pass-over-preferences-editor"
import { allowed, cellNotes, matrix, ownStored } from "./pass-over-preferences-view"
import { Select } from "./select"
import { Empty, Failed, Loading } from "./state"

type Choose = (from: string, to: string) => void

function Cell(props: { pair: Explanation | undefined; chosen: boolean; choose: Choose }) {
  return (
    <td>
      <Show
        when={props.pair}
        fallback={
          <span class="none" aria-label={WORDS.preferences.none}>
            ·
          </span>
        }
      >
        {(pair) => (
          <button
            type="button"
            class="cell"
            data-on={allowed(pair())}
            aria-pressed={props.chosen}
            onClick={() => props.choose(pair().from, pair().to)}
          >
            <span class="cell-state">
              <span aria-hidden="true">{allowed(pair()) ? "●" : "○"}</span>{" "}
              {allowed(pair()) ? WORDS.preferences.on : WORDS.preferences.off}
              <Show when={ownStored(pair())}>
                <span title={WORDS.preferences.own}>
                  {" "}
                  ✎<span class="visually-hidden"> {WORDS.preferences.own}</span>
                </span>
              </Show>
            </span>
            <Show when={allowed(pair())}>
              <For each={cellNotes(pair())}>{(note) => <span class="cell-note">{note}</span>}</For>
            </Show>
          </button>
        )}
      </Show>
    </td>
  )
}

function MatrixTable(props: { pairs: Explanation[]; from: string; to: string; choose: Choose }) {
  const table = createMemo(() => matrix(props.pairs))
  return (
    <div class="table-wrap" tabindex="0" role="region" aria-label={WORDS.preferences.matrix}>
      <table class="matrix">
        <caption class="visually-hidden">{WORDS.preferences.matrix}</caption>
        <thead>
          <tr>
            <th scope="col">{WORDS.preferences.from_to}</th>
            <For each={table().to}>{(to) => <th scope="col">{to}</th>}</For>
          </tr>
        </thead>
        <tbody>
          <For each={table().from}>
            {(from) => (
              <tr>
                <th scope="row">{from}</th>
                <For each={table().to}>
                  {(to) => (
                    <Cell
                      pair={table().cell(from, to)}
                      chosen={props.from === from && props.to === to}
                      choose={props.choose}
                    />
                  )}
                </For>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  )
}

function ProjectChoice(props: { projects: readonly { directory: string }[]; directory: string }) {
  return (
    <label class="field inline">
      <span>{WORDS.project.label}</span>
      <Select
        value={props.directory}
        options={props.projects.map((project) => project.directory)}
        word={shortPath}
        change={(project) => go("preferences", { query: { project } }, "replace")}
      />
    </label>
  )
}

function usePreferences() {
  const { projects, first } = useProjects()
  const directory = () => place().query.project ?? first() ?? ""
  const preferences = useQuery(() => ({
    queryKey: ["preferences", directory()],
    enabled: directory() !== "",
    queryFn: async () => (await api.preferences.$get({ query: { directory: directory() } })).json(),
  }))
  return { projects, directory, preferences }
}

export function Preferences() {
  const { projects, directory, preferences } = usePreferences()
  const query = () => place().query
  const pairs = () => (preferences.data?.pairs ?? []) as Explanation[]
  const chosen = createMemo(() => pairs().find((pair) => pair.from === query().from && pair.to === query().to))
  const choose: Choose = (from, to) => go("preferences", { query: { ...query(), from, to } }, "replace")
  return (
    <>
      <div class="page-head">
        <h1>{WORDS.preferences.title}</h1>
        <p class="page-note">{WORDS.preferences.text}</p>
        <Show when={(projects.data?.items.length ?? 0) > 0}>
          <ProjectChoice projects={projects.data?.items ?? []} directory={directory()} />
        </Show>
      </div>
      <Switch>
        <Match when={(projects.isError && !projects.data) || (preferences.isError && !preferences.data)}>
          <Failed error={projects.error ?? preferences.error} retry={() => void preferences.refetch()} />
        </Match>
        <Match when={projects.data?.items.length === 0 && directory() === ""}>
          <Empty title={WORDS.preferences.no_project} text={WORDS.preferences.no_project_text} />
        </Match>
        <Match when={preferences.isPending}>
          <Loading />
        </Match>
        <Match when={preferences.data}>
          <Show when={preferences.data?.problem}>
            {(problem) => (
              <div class="notice" role="alert">
                <strong>{WORDS.preferences.problem}</strong> <span class="said">{problem()}</span>
              </div>
            )}
          </Show>
          <MatrixTable pairs={pairs()} from={query().from ?? ""} to={query().to ?? ""} choose={choose} />
          <Show when={chosen()} fallback={<p class="hint">{WORDS.preferences.pick}</p>}>
            {(pair) => (
              <PairEditor
                pair={pair()}
                settings={preferences.data?.settings ?? []}
                directory={directory()}
                saved={() => preferences.refetch()}
              />
            )}
          </Show>
        </Match>
      </Switch>
    </>
  )
}
