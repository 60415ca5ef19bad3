import { useQuery, useQueryClient } from "@tanstack/solid-query"
import { createComputed, createSignal, For, Index, Match, Show, Switch } from "solid-js"
import { createStore, reconcile } from "solid-js/store"
import type { Run } from "../../../opencode/src/server/schema-flow"
import { api } from "../lib/api"
import { duration, exactly, moment, shortPath } from "../lib/format"
import { link } from "../lib/route"
import { useNow } from "../lib/tick"
import { useTitle } from "../lib/title"
import { WORDS } from "../lib/words"
import { BadgeMark } from "./badge"
import { FlowDiagram } from "./flow-diagram"
import { Meter } from "./meter"
import { aboutRun, orders, runBadge, spending, stepOrders, waitingFiles, type Box } from "./pass-over-flows-view"
import { titleOf } from "./pass-over-pass-view"
import { Ask } from "./speak"
import { Failed, Loading } from "./state"
import { Said, Text } from "./text"

type Asking = { what: "cancel" } | { what: "skip"; step: string }

function useOrders(id: () => string) {
  const client = useQueryClient()
  const [error, setError] = createSignal<unknown>()
  const [said, setSaid] = createSignal("")
  const runs = api.runs[":id"]
  const param = () => ({ id: id() })
  const send = async (work: () => Promise<{ json(): Promise<{ state: string; text: string }> }>) => {
    setError(undefined)
    try {
      const { state, text } = await (await work()).json()
      setSaid(state === "handed_over" ? text : "")
    } finally {
      await client.invalidateQueries({ queryKey: ["run", id()] })
    }
  }
  const now = (work: Parameters<typeof send>[0]) => void send(work).catch(setError)
  return {
    error,
    said,
    pause: () => now(() => runs.pause.$post({ param: param(), json: {} })),
    resume: () => now(() => runs.resume.$post({ param: param(), json: {} })),
    retry: (step: string) => now(() => runs.retry.$post({ param: param(), json: { step } })),
    cancel: (reason: string) => send(() => runs.cancel.$post({ param: param(), json: { reason } })),
    skip: (step: string, reason: string) => send(() => runs.skip.$post({ param: param(), json: { step, reason } })),
  }
}

type Orders = ReturnType<typeof useOrders>

/** What a run proposes stays a proposal until somebody applies it. */
function Proposed(props: { run: Run }) {
  return (
    <For each={waitingFiles(props.run)}>
      {({ pass_over_id, agent, files }) => (
        <div class="notice">
          <p>
            {WORDS.flows.proposed(files.length, agent)}{" "}
            <a href={link("pass", { id: pass_over_id, tab: "changes" })}>{WORDS.flows.look}</a>
          </p>
          <p class="said">
            <Text text={files.join(", ")} />
          </p>
        </div>
      )}
    </For>
  )
}

function Head(props: { run: Run; now: number; deeds: Orders; ask: (asking: Asking) => void }) {
  const give = (what: ReturnType<typeof orders>[number]) =>
    what === "cancel" ? props.ask({ what }) : props.deeds[what]()
  return (
    <header class="pass-head">
      <div class="card-head">
        <p class="meta">
          <a href={link("flows")}>{WORDS.nav.flows}</a>
        </p>
        <BadgeMark badge={runBadge(props.run)} />
      </div>
      <h1>{props.run.flow}</h1>
      <p class="meta">
        <span>{WORDS.flows.step(props.run.step, props.run.steps)}</span>
        <span title={exactly(props.run.time_created)}>{moment(props.run.time_created, props.now)}</span>
        <span>{duration((props.run.time_ended ?? props.now) - props.run.time_created)}</span>
        <span title={props.run.directory}>{shortPath(props.run.directory)}</span>
        <span>{WORDS.flows.by[props.run.started_by]}</span>
      </p>
      <div class="limits">
        <Meter limit={spending(props.run)} label={WORDS.pass.cost} />
      </div>
      <Show when={props.run.reason}>{(reason) => <Said text={reason()} class="notice" />}</Show>
      <Show when={!props.run.carried}>
        <p class="hint">{WORDS.flows.waits_for_opencode}</p>
      </Show>
      <dl class="facts">
        <For each={Object.entries(props.run.inputs)}>
          {([name, value]) => (
            <>
              <dt>
                <Text text={name} />
              </dt>
              <dd class="said" dir="auto">
                <Text text={value} />
              </dd>
            </>
          )}
        </For>
      </dl>
      <div class="actions">
        {/* By their places: where pausing becomes going on, the button stays, and the focus with it. */}
        <Index each={orders(props.run)}>
          {(what) => (
            <button type="button" class="button" onClick={() => give(what())}>
              {WORDS.flows.order[what()]}
            </button>
          )}
        </Index>
      </div>
      <Show when={props.deeds.said()}>
        <p class="hint" role="status">
          {props.deeds.said()}
        </p>
      </Show>
      <Show when={props.deeds.error()}>{(caught) => <Failed error={caught()} />}</Show>
    </header>
  )
}

function Dialogs(props: { asking: Asking; deeds: Orders; close: () => void }) {
  const step = () => (props.asking.what === "skip" ? props.asking.step : undefined)
  return (
    <Ask
      close={props.close}
      title={step() === undefined ? WORDS.flows.cancel_title : WORDS.flows.skip_title(step() ?? "")}
      text={step() === undefined ? WORDS.flows.cancel_text : WORDS.flows.skip_text}
      label={WORDS.flows.reason}
      yes={step() === undefined ? WORDS.flows.order.cancel : WORDS.flows.order.skip}
      no={WORDS.now.close}
      needed={step() !== undefined}
      danger={step() === undefined}
      send={(reason) => {
        const skipped = step()
        return skipped === undefined ? props.deeds.cancel(reason) : props.deeds.skip(skipped, reason)
      }}
    />
  )
}

/** A run of a flow as it goes: where it is, who works, who is waited for, what it has used. */
export function RunPage(props: { id: string }) {
  const now = useNow()
  const deeds = useOrders(() => props.id)
  const [asking, setAsking] = createSignal<Asking>()
  const found = useQuery(() => ({
    queryKey: ["run", props.id],
    queryFn: async () => (await api.runs[":id"].$get({ param: { id: props.id } })).json(),
  }))
  // What changes about a step changes in its place: a button in hand stays the same.
  const [shown, setShown] = createStore<{ run: Run | undefined }>({ run: undefined })
  useTitle(() => shown.run && titleOf([shown.run.flow, aboutRun(shown.run)].filter(Boolean).join(": ")))
  createComputed(() => found.data && setShown("run", reconcile(found.data, { key: "id", merge: true })))
  const stepDeeds = (run: Run) => (box: Box) => (
    <span class="box-deeds">
      <For each={stepOrders(run, box)}>
        {(what) => (
          <button
            type="button"
            class="link"
            onClick={() => (what === "retry" ? deeds.retry(box.id) : setAsking({ what, step: box.id }))}
          >
            {WORDS.flows.order[what]}
            <span class="visually-hidden"> {box.id}</span>
          </button>
        )}
      </For>
    </span>
  )
  return (
    <Switch>
      <Match when={found.isError && !found.data}>
        <Failed title={WORDS.flows.run} error={found.error} retry={() => void found.refetch()} />
      </Match>
      <Match when={!shown.run}>
        <Loading />
      </Match>
      <Match when={shown.run}>
        {(run) => (
          <article class="pass">
            <Head run={run()} now={now()} deeds={deeds} ask={setAsking} />
            <Proposed run={run()} />
            <FlowDiagram nodes={run().nodes} running deeds={stepDeeds(run())} label={WORDS.flows.diagram(run().flow)} />
            <Show when={asking()} keyed>
              {(asked) => <Dialogs asking={asked} deeds={deeds} close={() => setAsking(undefined)} />}
            </Show>
          </article>
        )}
      </Match>
    </Switch>
  )
}
