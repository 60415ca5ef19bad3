import { Tabs } from "@kobalte/core/tabs"
import { useQuery } from "@tanstack/solid-query"
import type { InferResponseType } from "hono/client"
import { createMemo, createSignal, For, Match, Show, Switch, type JSX } from "solid-js"
import { api } from "../lib/api"
import { count, duration, exactly, moment, money, shortPath, tokens } from "../lib/format"
import { lives } from "../lib/live"
import { go, place } from "../lib/route"
import { useNow } from "../lib/tick"
import { useTitle } from "../lib/title"
import { WORDS } from "../lib/words"
import { BadgeMark } from "./badge"
import { passBadge, verdictBadge } from "./badge-view"
import { Chain } from "./chain"
import { Meter } from "./meter"
import { Guarded } from "./on-demand"
import { PassChanges } from "./pass-over-change"
import { PassContext, PassRequest, PassTimeline } from "./pass-over-pass-parts"
import { PassOutcome } from "./pass-over-pass-outcome"
import { TABS, tabOf, titleOf } from "./pass-over-pass-view"
import { PassTranscript } from "./pass-over-transcript"
import { badged, chainOf, deadline, nodeIn, spending, withLive } from "./pass-over-status-view"
import { CancelDialog, SpeakDialog } from "./speak"
import { Failed, Loading } from "./state"
import { Text } from "./text"
import { Waits } from "./waits"

export type Detail = InferResponseType<(typeof api)[":id"]["$get"], 200>

export const usePass = (id: () => string | undefined) =>
  useQuery(() => ({
    queryKey: ["pass", id()],
    enabled: id() !== undefined,
    queryFn: async () => (await api[":id"].$get({ param: { id: id() ?? "" } })).json(),
  }))

const WORTH_KEEPING = 8

function About(props: { detail: Detail; now: number }) {
  const [copied, setCopied] = createSignal(false)
  const copy = async () => {
    await navigator.clipboard.writeText(props.detail.pass.id)
    setCopied(true)
  }
  return (
    <p class="meta">
      <span title={exactly(props.detail.pass.time_created)}>{moment(props.detail.pass.time_created, props.now)}</span>
      <span title={props.detail.pass.directory}>{shortPath(props.detail.pass.directory)}</span>
      <Show when={props.detail.pass.time_ended}>
        {(ended) => <span>{duration(ended() - props.detail.pass.time_created)}</span>}
      </Show>
      <Show when={props.detail.usage}>
        {(usage) => (
          <>
            <span>{tokens(usage().input + usage().output + usage().reasoning)} tokens</span>
            <span>{money(usage().cost)}</span>
          </>
        )}
      </Show>
      <button type="button" class="link" onClick={() => void copy()}>
        {copied() ? WORDS.pass.copied : WORDS.pass.copy} {props.detail.pass.id.slice(-WORTH_KEEPING)}
      </button>
    </p>
  )
}

function Head(props: { detail: Detail; now: number }) {
  const [asking, setAsking] = createSignal<"cancel" | "speak">()
  const chain = createMemo(() => props.detail.chain.map((pass) => withLive(pass, lives())))
  const node = createMemo(() => nodeIn(chain(), props.detail.pass.id))
  // What is over is in no tree of those that run.
  const pass = createMemo(() => node()?.pass ?? chain().find((pass) => pass.id === props.detail.pass.id))
  const badge = () => {
    const [at, shown] = [node(), pass()]
    return at ? badged(at) : shown
  }
  return (
    <header class="pass-head">
      <div class="card-head">
        <Chain agents={chainOf(props.detail.pass)} />
        <span class="badges">
          <Show when={props.detail.output?.summary.verdict}>
            {(verdict) => <BadgeMark badge={verdictBadge(verdict().status)} />}
          </Show>
          <Show when={badge()}>{(shown) => <BadgeMark badge={passBadge(shown())} />}</Show>
        </span>
      </div>
      <h1 dir="auto">
        <Text text={props.detail.pass.objective} />
      </h1>
      <About detail={props.detail} now={props.now} />
      <Show when={props.detail.output === null && pass()}>
        {(shown) => (
          <>
            <Show when={node()}>
              {(at) => (
                <p class="meta">
                  <Waits node={at()} />
                </p>
              )}
            </Show>
            <div class="limits">
              <Meter limit={deadline(shown(), props.now)} label={WORDS.pass.time} />
              <Meter limit={spending(shown())} label={WORDS.pass.cost} />
            </div>
            <div class="actions">
              <button type="button" class="button" onClick={() => setAsking("speak")}>
                {WORDS.now.speak}
              </button>
              <button type="button" class="button" onClick={() => setAsking("cancel")}>
                {WORDS.now.cancel}
              </button>
            </div>
          </>
        )}
      </Show>
      {/* The pass may end while somebody writes: their words stay, and the server says what became of it. */}
      <Show when={asking() === "cancel"}>
        <CancelDialog pass={props.detail.pass} close={() => setAsking(undefined)} />
      </Show>
      <Show when={asking() === "speak"}>
        <SpeakDialog pass={props.detail.pass} close={() => setAsking(undefined)} />
      </Show>
    </header>
  )
}

/** One that breaks leaves the others. */
function Tab(props: { name: (typeof TABS)[number]; children: JSX.Element }) {
  return (
    <Tabs.Content value={props.name}>
      <Guarded place={props.name}>{props.children}</Guarded>
    </Tabs.Content>
  )
}

function Parts(props: { detail: Detail; now: number }) {
  const tab = () => tabOf(place().tab, props.detail.output !== null)
  return (
    <Tabs value={tab()} onChange={(name) => go("pass", { id: props.detail.pass.id, tab: name }, "replace")}>
      <Tabs.List class="tabs" aria-label={WORDS.pass.tabs.label}>
        <For each={TABS}>
          {(name) => (
            <Tabs.Trigger value={name} class="tab">
              {WORDS.pass.tabs[name]}
              <Show when={name === "context" && props.detail.manifest}>
                {(manifest) => <span class="count quiet">{count(manifest().items.length)}</span>}
              </Show>
            </Tabs.Trigger>
          )}
        </For>
      </Tabs.List>
      <Tab name="outcome">
        <PassOutcome detail={props.detail} />
      </Tab>
      <Tab name="changes">
        <PassChanges id={props.detail.pass.id} />
      </Tab>
      <Tab name="work">
        <PassTranscript detail={props.detail} now={props.now} />
      </Tab>
      <Tab name="context">
        <PassContext detail={props.detail} />
      </Tab>
      <Tab name="request">
        <PassRequest detail={props.detail} />
      </Tab>
      <Tab name="timeline">
        <PassTimeline detail={props.detail} now={props.now} />
      </Tab>
    </Tabs>
  )
}

export function PassPage(props: { id: string }) {
  const now = useNow()
  const pass = usePass(() => props.id)
  useTitle(() => (pass.data ? titleOf(pass.data.pass.objective) : pass.isError ? WORDS.pass.title : undefined))
  return (
    <Switch>
      <Match when={pass.isError && !pass.data}>
        <Failed title={WORDS.pass.title} error={pass.error} retry={() => void pass.refetch()} />
      </Match>
      <Match when={pass.isPending}>
        <Loading />
      </Match>
      <Match when={pass.data}>
        {(detail) => (
          <article class="pass">
            <Head detail={detail()} now={now()} />
            <Parts detail={detail()} now={now()} />
          </article>
        )}
      </Match>
    </Switch>
  )
}
