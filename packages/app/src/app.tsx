import type { QueryClient } from "@tanstack/solid-query"
import { createEffect, lazy, Match, onCleanup, Show, Suspense, Switch } from "solid-js"
import { Inbox } from "./components/pass-over-inbox"
import { Now } from "./components/pass-over-status"
import { SignIn } from "./components/sign-in"
import { Shell } from "./components/shell"
import { Loading } from "./components/state"
import { signedIn } from "./lib/api"
import { keepFollowing } from "./lib/live"
import { place } from "./lib/route"

const Audit = lazy(() => import("./components/pass-over-audit").then((page) => ({ default: page.Audit })))
const Pass = lazy(() => import("./components/pass-over-pass").then((page) => ({ default: page.PassPage })))
const Flows = lazy(() => import("./components/pass-over-flows").then((page) => ({ default: page.Flows })))
const Run = lazy(() => import("./components/pass-over-run").then((page) => ({ default: page.RunPage })))
const Preferences = lazy(() =>
  import("./components/pass-over-preferences").then((page) => ({ default: page.Preferences })),
)

export function App(props: { client: QueryClient; expired: boolean }) {
  createEffect(() => {
    if (!signedIn()) return
    const over = new AbortController()
    void keepFollowing(props.client, over.signal)
    onCleanup(() => over.abort())
  })
  return (
    <Show when={signedIn()} fallback={<SignIn expired={props.expired} />}>
      <Shell>
        <Suspense fallback={<Loading />}>
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
        </Suspense>
      </Shell>
    </Show>
  )
}
