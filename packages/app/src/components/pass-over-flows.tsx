import { useInfiniteQuery, useQuery } from "@tanstack/solid-query"
import { createSignal, For, Match, Show, Switch } from "solid-js"
import type { Flow, RunSummary } from "../../../opencode/src/server/schema-flow"
import { api } from "../lib/api"
import { duration, exactly, moment, shortPath } from "../lib/format"
import { useProjects } from "../lib/projects"
import { go, link, place } from "../lib/route"
import { useNow } from "../lib/tick"
import { WORDS } from "../lib/words"
import { BadgeMark } from "./badge"
import { Dialog } from "./dialog"
import { FlowDiagram } from "./flow-diagram"
import { aboutRun, filled, missing, runBadge } from "./pass-over-flows-view"
import { Press } from "./press"
import { Empty, Failed, Loading, More } from "./state"
import { Said, Text } from "./text"

function StartDialog(props: { flow: Flow; directory: string; close: () => void }) {
  const [given, setGiven] = createSignal<Record<string, string>>({})
  const [busy, setBusy] = createSignal(false)
  const [error, setError] = createSignal<unknown>()
  const start = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      const json = { directory: props.directory, name: props.flow.name, inputs: filled(given()) }
      const { run_id } = await (await api.flows.$post({ json })).json()
      props.close()
      go("run", { id: run_id })
    } catch (caught) {
      setError(caught)
      setBusy(false)
    }
  }
  return (
    <Dialog title={WORDS.flows.start_title(props.flow.name)} close={props.close}>
      <form onSubmit={(event) => void start(event)}>
        <Show when={props.flow.description}>
          {(text) => (
            <p dir="auto">
              <Text text={text()} />
            </p>
          )}
        </Show>
        <For each={props.flow.inputs}>
          {(input, index) => (
            <label class="field">
              <span>
                {input.name}
                <Show when={input.description}>{(text) => <span class="meta"> {text()}</span>}</Show>
              </span>
              <textarea
                rows="2"
                autofocus={index() === 0}
                required={input.required}
                placeholder={input.default ?? ""}
                onInput={(event) => setGiven({ ...given(), [input.name]: event.currentTarget.value })}
              />
            </label>
          )}
        </For>
        <Show when={error()}>{(caught) => <Failed error={caught()} />}</Show>
        <div class="actions end">
          <button type="button" class="button quiet" onClick={() => props.close()}>
            {WORDS.now.close}
          </button>
          <Press type="submit" class="button primary" idle={busy() || missing(props.flow.inputs, given()).length > 0}>
            {WORDS.flows.start}
          </Press>
        </div>
      </form>
    </Dialog>
  )
}

function FlowCard(props: { flow: Flow; start: () => void }) {
  return (
    <li>
      <article class="card">
        <header class="card-head">
          <h3>{props.flow.name}</h3>
          <button type="button" class="button" onClick={() => props.start()}>
            {WORDS.flows.start}
            <span class="visually-hidden"> {props.flow.name}</span>
          </button>
        </header>
        <Said text={props.flow.description ?? ""} />
        <details>
          <summary>{WORDS.flows.steps(props.flow.nodes.length)}</summary>
          <FlowDiagram nodes={props.flow.nodes} running={false} label={WORDS.flows.diagram(props.flow.name)} />
        </details>
      </article>
    </li>
  )
}

function RunLine(props: { run: RunSummary; now: number }) {
  return (
    <li>
      <a class="line" href={link("run", { id: props.run.run_id })}>
        <BadgeMark badge={runBadge(props.run)} />
        <span class="line-text">
          <strong>{props.run.flow}</strong>{" "}
          <bdi>
            <Text text={[aboutRun(props.run), props.run.reason ?? ""].filter(Boolean).join(" · ")} />
          </bdi>
        </span>
        <span class="line-end">
          <span title={props.run.directory}>{shortPath(props.run.directory)}</span>
          <span>{duration((props.run.time_ended ?? props.now) - props.run.time_created)}</span>
          <time datetime={new Date(props.run.time_created).toISOString()} title={exactly(props.run.time_created)}>
            {moment(props.run.time_created, props.now)}
          </time>
        </span>
      </a>
    </li>
  )
}

function Runs(props: { now: number }) {
  const runs = useInfiniteQuery(() => ({
    queryKey: ["runs"],
    initialPageParam: "",
    queryFn: async ({ pageParam }) =>
      (await api.runs.$get({ query: { limit: "50", ...(pageParam === "" ? {} : { cursor: pageParam }) } })).json(),
    getNextPageParam: (page) => page.next,
  }))
  const items = () => (runs.data?.pages ?? []).flatMap((page) => page.items)
  return (
    <section>
      <h2 class="section-title">{WORDS.flows.runs}</h2>
      <Switch>
        <Match when={runs.isError && !runs.data}>
          <Failed error={runs.error} retry={() => void runs.refetch()} />
        </Match>
        <Match when={runs.isPending}>
          <Loading />
        </Match>
        <Match when={items().length === 0}>
          <p class="hint">{WORDS.flows.no_runs}</p>
        </Match>
        <Match when={runs.data}>
          <ul class="lines">
            <For each={items()}>{(run) => <RunLine run={run} now={props.now} />}</For>
          </ul>
          <More pages={runs} />
        </Match>
      </Switch>
    </section>
  )
}

function Known(props: { directory: string }) {
  const [starting, setStarting] = createSignal<Flow>()
  const flows = useQuery(() => ({
    queryKey: ["flows", props.directory],
    queryFn: async () => (await api.flows.$get({ query: { directory: props.directory } })).json(),
  }))
  return (
    <section>
      <h2 class="section-title">{WORDS.flows.known(shortPath(props.directory))}</h2>
      <Switch>
        <Match when={flows.isError && !flows.data}>
          <Failed error={flows.error} retry={() => void flows.refetch()} />
        </Match>
        <Match when={flows.isPending}>
          <Loading />
        </Match>
        <Match when={flows.data}>
          {(data) => (
            <>
              <For each={data().faults}>
                {(fault) => (
                  <For each={fault.lines}>
                    {(line) => (
                      <p class="notice said">
                        <Text text={line} />
                      </p>
                    )}
                  </For>
                )}
              </For>
              <ul class="flow-cards">
                <For each={data().items}>{(flow) => <FlowCard flow={flow} start={() => setStarting(flow)} />}</For>
              </ul>
            </>
          )}
        </Match>
      </Switch>
      <Show when={starting()} keyed>
        {(flow) => <StartDialog flow={flow} directory={props.directory} close={() => setStarting(undefined)} />}
      </Show>
    </section>
  )
}

/** The flows of a project, and how their runs go. */
export function Flows() {
  const now = useNow()
  const { projects, first } = useProjects()
  const directories = () => (projects.data?.items ?? []).map((project) => project.directory)
  const directory = () => {
    const named = place().query.directory
    return named !== undefined && directories().includes(named) ? named : first()
  }
  const choose = (next: string) => go("flows", { query: { directory: next } }, "replace")
  return (
    <>
      <div class="page-head">
        <h1>{WORDS.flows.title}</h1>
        <Show when={directories().length > 1}>
          <label class="field inline">
            <span>{WORDS.project.label}</span>
            <select value={directory()} onChange={(event) => choose(event.currentTarget.value)}>
              <For each={directories()}>{(one) => <option value={one}>{shortPath(one)}</option>}</For>
            </select>
          </label>
        </Show>
      </div>
      <Runs now={now()} />
      <Switch>
        <Match when={projects.isPending}>
          <Loading />
        </Match>
        <Match when={directory()}>{(one) => <Known directory={one()} />}</Match>
        <Match when={directory() === undefined}>
          <Empty title={WORDS.preferences.no_project} text={WORDS.preferences.no_project_text} />
        </Match>
      </Switch>
    </>
  )
}
