import type { QueryClient } from "@tanstack/solid-query"
import { createEffect, Match, onCleanup, Show, Switch } from "solid-js"
import { Guarded, onDemand } from "./components/on-demand"
import { Inbox } from "./components/pass-over-inbox"
import { Now } from "./components/pass-over-status"
import { SignIn } from "./components/sign-in"
import { Shell } from "./components/shell"
import { signedIn } from "./lib/api"
import { keepFollowing } from "./lib/live"
import { place } from "./lib/route"

const Audit = onDemand(async () => (await import("./components/pass-over-audit")).Audit)
const Pass = onDemand(async () => (await import("./components/pass-over-pass")).PassPage)
const Flows = onDemand(async () => (await import("./components/pass-over-flows")).Flows)
const Run = onDemand(async () => (await import("./components/pass-over-run")).RunPage)
const Preferences = onDemand(async () => (await import("./components/pass-over-preferences")).Preferences)

/** Once the first page is there the others are fetched, so that they open also while the server is away. */
const PRELOAD_AFTER_MS = 1_000

function preload() {
  for (const page of [Audit, Pass, Flows, Run, Preferences]) void page.preload()
}

function Pages() {
  return (
    <Switch>
      <Match when={place().page === "now"}>
        <Now />
      </Match>
      <Match when={place().page === "inbox"}>
        <Inbox />
      </Match>
      <Match when={place().page === "pass" && place().id} keyed>
        {(id) => <Pass id={id} />}
      </Match>
      <Match when={place().page === "flows"}>
        <Flows />
      </Match>
      <Match when={place().page === "run" && place().id} keyed>
        {(id) => <Run id={id} />}
      </Match>
      <Match when={place().page === "audit"}>
        <Audit />
      </Match>
      <Match when={place().page === "preferences"}>
        <Preferences />
      </Match>
    </Switch>
  )
}

export function App(props: { client: QueryClient }) {
  createEffect(() => {
    if (!signedIn()) return
    const over = new AbortController()
    void keepFollowing(props.client, over.signal)
    const later = setTimeout(preload, PRELOAD_AFTER_MS)
    onCleanup(() => {
      over.abort()
      clearTimeout(later)
    })
  })
  return (
    <Show when={signedIn()} fallback={<SignIn />}>
      <Shell>
        <Guarded place={`${place().page} ${place().id ?? ""}`}>
          <Pages />
        </Guarded>
      </Shell>
    </Show>
  )
}
