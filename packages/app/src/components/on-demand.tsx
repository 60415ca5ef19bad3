import { createSignal, ErrorBoundary, Match, Show, Switch, type Component, type JSX } from "solid-js"
import { Dynamic } from "solid-js/web"
import { Unreachable } from "../lib/api"
import { Failed, Loading } from "./state"

/**
 * A page whose program comes as a file of its own. Solid's `lazy` would need a Suspense around it; with one around a page
 * every question that it puts to the server takes the page away until the answer comes, with the focus and what was typed.
 */
export function onDemand<Props extends Record<string, unknown>>(load: () => Promise<Component<Props>>) {
  const [page, setPage] = createSignal<Component<Props>>()
  const [failed, setFailed] = createSignal(false)
  const bring = async () => {
    setFailed(false)
    try {
      const found = await load()
      setPage(() => found)
    } catch {
      setFailed(true)
    }
  }
  const Page = (props: Props) => {
    if (page() === undefined) void bring()
    return (
      <Switch fallback={<Loading />}>
        <Match when={page()}>{(found) => <Dynamic component={found()} {...props} />}</Match>
        <Match when={failed()}>
          <Failed error={new Unreachable()} retry={() => void bring()} />
        </Match>
      </Switch>
    )
  }
  return Object.assign(Page, { preload: bring })
}

/** What breaks inside says so, and takes nothing else with it; at another place it begins anew. */
export function Guarded(props: { place: string; children: JSX.Element }) {
  return (
    <Show when={props.place} keyed>
      <ErrorBoundary fallback={(error, again) => <Failed error={error} retry={again} />}>
        {props.children}
      </ErrorBoundary>
    </Show>
  )
}
