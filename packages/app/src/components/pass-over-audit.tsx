import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/solid-query"
import { createEffect, createMemo, createSignal, Match, on, Show, Switch } from "solid-js"
import { VList, type VListHandle } from "virtua/solid"
import type { AuditLine } from "../../../opencode/src/pass-over/domain/audit-log"
import { api, request } from "../lib/api"
import { count, exactly, moment } from "../lib/format"
import { go, place } from "../lib/route"
import { useNow } from "../lib/tick"
import { useWide } from "../lib/wide"
import { WORDS } from "../lib/words"
import { BadgeMark } from "./badge"
import { actionBadge } from "./badge-view"
import { Dialog } from "./dialog"
import { Guarded } from "./on-demand"
import { AuditFilters } from "./pass-over-audit-filters"
import {
  EntryPage,
  lineKey,
  lineCode,
  lineText,
  narrowed,
  NO_FILTERS,
  readFilters,
  toQuery,
  wantsMore,
  writeFilters,
  type Filters,
} from "./pass-over-audit-view"
import { Glance } from "./pass-over-glance"
import { Empty, Failed, Loading } from "./state"
import { Pair, Text } from "./text"

const PAGE = "500"
/** Fixed, so that the list knows how long it is without looking at each of its lines. */
const ROW_PX = 44
/** So many pages are read anew when something happens; whoever is further down is told, and decides. */
const FRESH_PAGES = 2

function Entry(props: { line: AuditLine; now: number; chosen: boolean; choose: () => void }) {
  return (
    <button type="button" class="entry" aria-pressed={props.chosen} onClick={() => props.choose()}>
      <BadgeMark badge={actionBadge(props.line.action)} />
      <span class="entry-who">
        <Pair from={props.line.originating_agent} to={props.line.subagent} />
      </span>
      <span class="entry-text">
        <Show when={lineCode(props.line)}>{(code) => <code>{code()} </code>}</Show>
        <Text text={lineText(props.line)} />
      </span>
      <time datetime={new Date(props.line.timestamp).toISOString()} title={exactly(props.line.timestamp)}>
        {moment(props.line.timestamp, props.now)}
      </time>
    </button>
  )
}

/** Hands the filtered entries over as a file. A link could not show the key, so they are fetched and then saved. */
async function save(filters: Filters) {
  const query = new URLSearchParams(toQuery(filters, Date.now()))
  const answer = await request(`/api/pass-over/audit/export?${query}`)
  const url = URL.createObjectURL(await answer.blob())
  const anchor = Object.assign(document.createElement("a"), { href: url, download: "pass-over-audit.jsonl" })
  anchor.click()
  URL.revokeObjectURL(url)
}

type Query = Record<string, string>

const read = async (query: Query) => (await api.audit.$get({ query: { limit: PAGE, ...query } })).json()

/** The entries that fit, as far as they were scrolled to, and whether there are newer ones. */
function useEntries(query: () => Query) {
  const client = useQueryClient()
  const pages = useInfiniteQuery(() => ({
    queryKey: ["entries", query()],
    initialPageParam: "",
    queryFn: async ({ pageParam }) => {
      const { items, next } = await read({ ...query(), ...(pageParam ? { cursor: pageParam } : {}) })
      return new EntryPage(items, next)
    },
    getNextPageParam: (page) => page.next,
    // What fitted the filters before stands there until it is known what fits them now.
    placeholderData: keepPreviousData,
  }))
  const newest = useQuery(() => ({
    queryKey: ["audit", query()],
    queryFn: async () => {
      const [line] = (await read({ ...query(), limit: "1" })).items
      return line ? lineKey(line) : ""
    },
  }))
  const lines = createMemo(() => (pages.data?.pages ?? []).flatMap((page) => page.items))
  const behind = () => {
    const [first] = lines()
    if (pages.isPlaceholderData) return false
    return newest.data !== undefined && newest.data !== "" && (!first || lineKey(first) !== newest.data)
  }
  const fresh = () => client.resetQueries({ queryKey: ["entries", query()] })
  createEffect(() => {
    const few = (pages.data?.pages.length ?? 0) <= FRESH_PAGES
    if (behind() && few && !pages.isFetching) void pages.refetch()
  })
  return { pages, lines, behind, fresh }
}

type Entries = ReturnType<typeof useEntries>

function List(props: { entries: Entries; now: number }) {
  const [chosen, setChosen] = createSignal<AuditLine>()
  const wide = useWide("80rem")
  let list: VListHandle | undefined
  const scrolled = () => {
    if (!list) return
    const { pages, lines } = props.entries
    const last = list.findItemIndex(list.scrollOffset + list.viewportSize)
    const at = { last, loaded: lines().length, more: pages.hasNextPage, loading: pages.isFetchingNextPage }
    if (wantsMore(at)) void pages.fetchNextPage()
  }
  const isChosen = (line: AuditLine) => {
    const one = chosen()
    return one !== undefined && lineKey(one) === lineKey(line)
  }
  createEffect(
    on(
      () => props.entries.pages.isPlaceholderData,
      (older, before) => !older && before && list?.scrollTo(0),
    ),
  )
  const body: { element?: HTMLElement } = {}
  const close = () => {
    body.element?.querySelector<HTMLElement>('.entry[aria-pressed="true"]')?.focus()
    setChosen(undefined)
  }
  return (
    <div class="audit-body">
      <div
        ref={(element) => (body.element = element)}
        class="entries"
        role="region"
        aria-label={WORDS.audit.list}
        aria-busy={props.entries.pages.isPlaceholderData}
      >
        <VList ref={(handle) => (list = handle)} data={props.entries.lines()} itemSize={ROW_PX} onScroll={scrolled}>
          {(line) => <Entry line={line} now={props.now} chosen={isChosen(line)} choose={() => setChosen(line)} />}
        </VList>
      </div>
      <Show when={wide()}>
        <aside class="glance" aria-label={WORDS.audit.glance}>
          <Show when={chosen()} fallback={<p class="hint">{WORDS.audit.choose}</p>}>
            {(line) => (
              <Guarded place={lineKey(line())}>
                <Glance line={line()} now={props.now} close={close} />
              </Guarded>
            )}
          </Show>
        </aside>
      </Show>
      <Show when={!wide() && chosen()}>
        {(line) => (
          <Dialog title={WORDS.audit.glance} close={close}>
            <div class="glance">
              <Guarded place={lineKey(line())}>
                <Glance line={line()} now={props.now} close={close} />
              </Guarded>
            </div>
          </Dialog>
        )}
      </Show>
    </div>
  )
}

function Filter(props: { filters: Filters; change: (filters: Filters) => void }) {
  const sums = useQuery(() => ({
    queryKey: ["stats"],
    queryFn: async () => (await api.stats.$get({ query: {} })).json(),
  }))
  const names = (side: "from" | "to") => [...new Set((sums.data?.pairs ?? []).map((pair) => pair[side]))].toSorted()
  return <AuditFilters filters={props.filters} from={names("from")} to={names("to")} change={props.change} />
}

export function Audit() {
  const now = useNow()
  const filters = createMemo(() => readFilters(place().query))
  const entries = useEntries(createMemo(() => toQuery(filters(), Date.now())))
  const { pages, lines } = entries
  const [unsaved, setUnsaved] = createSignal<unknown>()
  const handOver = () => {
    setUnsaved(undefined)
    void save(filters()).catch(setUnsaved)
  }
  const change = (next: Filters) => go("audit", { query: writeFilters(next) }, "replace")
  return (
    <div class="audit">
      <div class="page-head">
        <h1>{WORDS.audit.title}</h1>
        <p class="page-note" role="status">
          {pages.data ? WORDS.audit.total(count(lines().length), pages.hasNextPage) : ""}
        </p>
        <Show when={entries.behind() && lines().length > 0}>
          <button type="button" class="button" onClick={() => void entries.fresh()}>
            {WORDS.audit.newer}
          </button>
        </Show>
        <button type="button" class="button quiet" onClick={handOver} disabled={lines().length === 0}>
          {WORDS.audit.export}
        </button>
      </div>
      <Show when={unsaved()}>{(caught) => <Failed error={caught()} retry={handOver} />}</Show>
      <Filter filters={filters()} change={change} />
      <Switch>
        <Match when={pages.isError && !pages.data}>
          <Failed error={pages.error} retry={() => void pages.refetch()} />
        </Match>
        <Match when={pages.isPending}>
          <Loading />
        </Match>
        <Match when={lines().length === 0 && narrowed(filters())}>
          <Empty title={WORDS.audit.none_found}>
            <button type="button" class="button" onClick={() => change(NO_FILTERS)}>
              {WORDS.audit.clear}
            </button>
          </Empty>
        </Match>
        <Match when={lines().length === 0}>
          <Empty title={WORDS.audit.none} text={WORDS.audit.none_text} />
        </Match>
        <Match when={lines().length > 0}>
          <List entries={entries} now={now()} />
        </Match>
      </Switch>
    </div>
  )
}
