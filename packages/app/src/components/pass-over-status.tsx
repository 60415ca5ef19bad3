import { useInfiniteQuery, useQuery } from "@tanstack/solid-query"
import { createComputed, createMemo, createSignal, For, Match, Show, Switch } from "solid-js"
import { createStore, reconcile } from "solid-js/store"
import type { PassSummary } from "../../../opencode/src/server/schema"
import { api } from "../lib/api"
import { duration, exactly, moment, money, shortPath, tokens } from "../lib/format"
import { lives } from "../lib/live"
import { link } from "../lib/route"
import { useNow } from "../lib/tick"
import { WORDS } from "../lib/words"
import { BadgeMark } from "./badge"
import { passBadge } from "./badge-view"
import { Chain } from "./chain"
import { Meter } from "./meter"
import {
  badged,
  chainOf,
  deadline,
  idle,
  inLine,
  progress,
  spending,
  trees,
  treeSpending,
  withLive,
  type Node,
} from "./pass-over-status-view"
import { CancelDialog, SpeakDialog } from "./speak"
import { Empty, Failed, Loading, More } from "./state"
import { Pair, Text } from "./text"
import { Waits } from "./waits"

type Asking = { what: "cancel" | "speak"; pass: PassSummary }

function Running(props: { node: Node; now: number; ask: (asking: Asking) => void }) {
  const pass = () => props.node.pass
  return (
    <li class="node">
      <article class="card running" data-you={props.node.you}>
        <header class="card-head">
          <Chain agents={chainOf(pass())} />
          <BadgeMark badge={passBadge(badged(props.node))} />
        </header>
        <h3 dir="auto">
          <a href={link("pass", { id: pass().id })}>
            <Text text={pass().objective} />
          </a>
        </h3>
        <p class="meta">
          <span>{WORDS.now.depth(pass().chain_depth, pass().max_chain_depth)}</span>
          <For each={progress(pass())}>{(text) => <span>{text}</span>}</For>
          <Waits node={props.node} />
        </p>
        <div class="limits">
          <Meter limit={deadline(pass(), props.now)} label={WORDS.pass.time} />
          <Meter limit={spending(pass())} label={WORDS.pass.cost} />
          <Show when={pass().parent_pass_id === null && treeSpending(pass())}>
            {(limit) => <Meter limit={limit()} label={WORDS.now.tree} />}
          </Show>
        </div>
        <Show when={inLine(pass())}>{(text) => <p class="meta warn">{text()}</p>}</Show>
        <Show when={idle(pass(), props.now)}>{(text) => <p class="meta warn">{text()}</p>}</Show>
        <div class="actions">
          <a class="button quiet" href={link("pass", { id: pass().id, tab: "work" })}>
            {WORDS.now.open}
          </a>
          <button type="button" class="button quiet" onClick={() => props.ask({ what: "speak", pass: pass() })}>
            {WORDS.now.speak}
            <span class="visually-hidden"> {pass().subagent_id}</span>
          </button>
          <button type="button" class="button quiet" onClick={() => props.ask({ what: "cancel", pass: pass() })}>
            {WORDS.now.cancel}
            <span class="visually-hidden"> {pass().subagent_id}</span>
          </button>
        </div>
      </article>
      <Show when={props.node.children.length > 0}>
        <ul class="tree">
          <For each={props.node.children}>{(child) => <Running node={child} now={props.now} ask={props.ask} />}</For>
        </ul>
      </Show>
    </li>
  )
}

export function PassLine(props: { pass: PassSummary; now: number }) {
  const took = () => (props.pass.time_ended ?? props.now) - props.pass.time_created
  return (
    <li>
      <a class="line" href={link("pass", { id: props.pass.id })}>
        <BadgeMark badge={passBadge(props.pass)} />
        <span class="line-text">
          <strong>
            <Pair from={props.pass.originating_agent_id} to={props.pass.subagent_id} />
          </strong>{" "}
          <bdi>
            <Text text={props.pass.objective} />
          </bdi>
        </span>
        <span class="line-end">
          <span>{duration(took())}</span>
          <Show when={props.pass.result}>
            {(result) => <span title={`${tokens(result().tokens)} tokens`}>{money(result().cost)}</span>}
          </Show>
          <time datetime={new Date(props.pass.time_created).toISOString()} title={exactly(props.pass.time_created)}>
            {moment(props.pass.time_created, props.now)}
          </time>
        </span>
      </a>
    </li>
  )
}

const RECENT = "8"
const MORE = "50"

const same = (a: readonly string[], b: readonly string[]) => a.join("\n") === b.join("\n")

/** Running passes, kept by id: what changes about a pass changes in its place, and a button in hand stays the same. */
function useRunning() {
  const open = useQuery(() => ({
    queryKey: ["passes", "open"],
    queryFn: async () => (await api.$get({ query: { status: "initial,waiting_for_return", limit: "500" } })).json(),
  }))
  const [shown, setShown] = createStore<{ roots: Node[] }>({ roots: [] })
  createComputed(() => {
    const passes = (open.data?.items ?? []).map((pass) => withLive(pass, lives()))
    setShown("roots", reconcile(trees(passes), { key: "id" }))
  })
  const roots = () => shown.roots
  const directories = createMemo(() => [...new Set(roots().map((node) => node.pass.directory))], [], { equals: same })
  return { open, roots, directories }
}

function Recent(props: { now: number }) {
  const recent = useInfiniteQuery(() => ({
    queryKey: ["passes", "recent"],
    initialPageParam: "",
    queryFn: async ({ pageParam }) => {
      const more = pageParam === "" ? { limit: RECENT } : { limit: MORE, cursor: pageParam }
      return (await api.$get({ query: { status: "returned,processed,timed_out,cancelled", ...more } })).json()
    },
    getNextPageParam: (page) => page.next,
  }))
  const passes = () => (recent.data?.pages ?? []).flatMap((page) => page.items)
  return (
    <Show when={passes().length > 0}>
      <section>
        <h2 class="section-title">{WORDS.now.recent}</h2>
        <ul class="lines">
          <For each={passes()}>{(pass) => <PassLine pass={pass} now={props.now} />}</For>
        </ul>
        <More pages={recent} />
      </section>
    </Show>
  )
}

export function Now() {
  const now = useNow()
  const [asking, setAsking] = createSignal<Asking>()
  const { open, roots, directories } = useRunning()
  return (
    <>
      <div class="page-head">
        <h1>{WORDS.now.title}</h1>
        <p class="page-note" role="status">
          {open.data && open.data.items.length > 0
            ? WORDS.now.running(open.data.items.length, open.data.next !== null)
            : ""}
        </p>
      </div>
      <Switch>
        <Match when={open.isError && !open.data}>
          <Failed error={open.error} retry={() => void open.refetch()} />
        </Match>
        <Match when={open.isPending}>
          <Loading />
        </Match>
        <Match when={roots().length === 0}>
          <Empty title={WORDS.now.none} text={WORDS.now.none_text} />
        </Match>
        <Match when={roots().length > 0}>
          <For each={directories()}>
            {(directory) => (
              <section class="project">
                <h2 class="project-name" title={directory}>
                  {shortPath(directory)}
                </h2>
                <ul class="tree top">
                  <For each={roots().filter((node) => node.pass.directory === directory)}>
                    {(node) => <Running node={node} now={now()} ask={setAsking} />}
                  </For>
                </ul>
              </section>
            )}
          </For>
        </Match>
      </Switch>
      <Recent now={now()} />
      <Show when={asking()} keyed>
        {(asked) =>
          asked.what === "cancel" ? (
            <CancelDialog pass={asked.pass} close={() => setAsking(undefined)} />
          ) : (
            <SpeakDialog pass={asked.pass} close={() => setAsking(undefined)} />
          )
        }
      </Show>
    </>
  )
}
