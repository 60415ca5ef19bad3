import { Show, type JSX } from "solid-js"
import { ApiError, Unreachable } from "../lib/api"
import { WORDS } from "../lib/words"
import { Press } from "./press"

export function Loading() {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">{WORDS.state.loading}</span>
      <span class="bar" />
      <span class="bar" />
      <span class="bar" />
    </div>
  )
}

export function Empty(props: { title: string; text?: string; children?: JSX.Element }) {
  return (
    <div class="empty">
      <p class="empty-title">{props.title}</p>
      <Show when={props.text}>
        <p>{props.text}</p>
      </Show>
      {props.children}
    </div>
  )
}

/** What went wrong, for people. What a program says to programmers goes to the console. */
function told(error: unknown): string {
  if (error instanceof ApiError || error instanceof Unreachable) return error.message
  console.error(error)
  return WORDS.state.broken
}

export function Failed(props: { error: unknown; title?: string; retry?: () => void }) {
  return (
    <>
      <Show when={props.title}>
        <h1 class="failed-title">{props.title}</h1>
      </Show>
      <div class="failed" role="alert">
        <p class="empty-title">{WORDS.state.error}</p>
        <p>{told(props.error)}</p>
        <Show when={props.error instanceof ApiError && props.error.suggestion}>{(text) => <p>{text()}</p>}</Show>
        <Show when={props.retry}>
          {(retry) => (
            <button type="button" class="button" onClick={() => retry()()}>
              {WORDS.state.retry}
            </button>
          )}
        </Show>
      </div>
    </>
  )
}

/** The way to what comes next in a list, where there is more of it. */
export function More(props: {
  pages: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
}) {
  return (
    <Show when={props.pages.hasNextPage}>
      <p class="more">
        <Press class="button" idle={props.pages.isFetchingNextPage} onClick={() => void props.pages.fetchNextPage()}>
          {WORDS.state.more}
        </Press>
      </p>
    </Show>
  )
}
