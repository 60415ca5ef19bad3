import type { QueryClient } from "@tanstack/solid-query"
import { createParser } from "eventsource-parser"
import { createSignal } from "solid-js"
import type { LivePass } from "../../../opencode/src/pass-over/service/port-live"
import { request, signedIn } from "./api"
import { stale } from "./live-view"

export type Connection = "live" | "connecting" | "offline"

const [connection, setConnection] = createSignal<Connection>("connecting")
const [lives, setLives] = createSignal<ReadonlyMap<string, LivePass>>(new Map())
export { connection, lives }

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8_000
/** So often at most is anything asked for anew, however much happens. */
const GATHER_MS = 120

type Following = { client: QueryClient; over: AbortSignal; last?: string; broken?: true }

/** Asks for everything on the page anew but the entries of the audit: the newest of them is asked for, and they follow. */
const everything = (client: QueryClient) =>
  void client.invalidateQueries({
    predicate: ({ queryKey, state }) => queryKey[0] !== "entries" || state.data === undefined,
  })

function refresher(client: QueryClient) {
  let timer: ReturnType<typeof setTimeout> | undefined
  const names = new Set<string>()
  return (more: readonly string[]) => {
    for (const name of more) names.add(name)
    timer ??= setTimeout(() => {
      timer = undefined
      for (const name of names) void client.invalidateQueries({ queryKey: name.split(" ") })
      names.clear()
    }, GATHER_MS)
  }
}

async function follow(state: Following, refresh: (names: readonly string[]) => void) {
  const answer = await request("/api/pass-over/events", {
    signal: state.over,
    headers: state.last === undefined ? {} : { "last-event-id": state.last },
  })
  const parser = createParser({
    onEvent({ event = "", data, id }) {
      if (id !== undefined) state.last = id
      if (event === "ready") setConnection("live")
      if (event === "live") setLives(new Map((JSON.parse(data) as LivePass[]).map((live) => [live.pass_over_id, live])))
      refresh(stale(event, data))
    },
  })
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  // What was missed while nobody was connected comes now as events; anything else on the page may be older still.
  if (state.broken) everything(state.client)
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true as const, value: undefined }
    if (done) return
    parser.feed(value)
  }
}

/** Follows the server for as long as the page is open; comes back by itself after every break. */
export async function keepFollowing(client: QueryClient, over: AbortSignal) {
  const state: Following = { client, over }
  const refresh = refresher(client)
  let pause = FIRST_PAUSE_MS
  while (!over.aborted && signedIn()) {
    const began = Date.now()
    try {
      await follow(state, refresh)
    } catch {
      if (over.aborted) return
    }
    // However it broke off: what had held for long is tried again at once.
    if (Date.now() - began > LONGEST_PAUSE_MS) pause = FIRST_PAUSE_MS
    state.broken = true
    setConnection("offline")
    await new Promise((resolve) => setTimeout(resolve, pause))
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  }
}
