import { createEffect, For, Show, type JSX } from "solid-js"
import { useInbox, waitMore } from "../lib/inbox"
import { connection } from "../lib/live"
import { link, place } from "../lib/route"
import type { Page } from "../lib/route-view"
import { theme, useTheme, type Theme } from "../lib/theme"
import { title } from "../lib/title"
import { WORDS } from "../lib/words"
import { Mark } from "./mark"

const PAGES = ["now", "inbox", "flows", "audit", "preferences"] as const
/** Pages that are reached from another one, and belong to it. */
const ABOVE: Partial<Record<Page, (typeof PAGES)[number]>> = { pass: "audit", run: "flows" }
const ICONS: Record<(typeof PAGES)[number], string> = {
  now: "M4 12h4l3-8 4 16 3-8h4",
  inbox: "M4 13h5l1.5 3h3L15 13h5M4 13l3-8h10l3 8v6H4z",
  flows: "M5 4h6v5H5zM13 15h6v5h-6zM8 9v4h8v2",
  audit: "M5 5h14M5 10h14M5 15h9M5 20h6",
  preferences: "M4 7h9M17 7h3M4 17h3M11 17h9M13 4.5v5M7 14.5v5",
}

const pageAbove = () => ABOVE[place().page] ?? (place().page as (typeof PAGES)[number])

const THEMES: readonly Theme[] = ["auto", "light", "dark"]

function NavLink(props: { page: (typeof PAGES)[number]; count: string }) {
  const here = () => pageAbove() === props.page
  return (
    <a href={link(props.page)} class="nav-link" aria-current={here() ? "page" : undefined}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d={ICONS[props.page]} />
      </svg>
      <span>{WORDS.nav[props.page]}</span>
      <Show when={props.count}>
        <span class="count">{props.count}</span>
      </Show>
    </a>
  )
}

const CONNECTION = {
  live: WORDS.connection.live,
  connecting: WORDS.connection.connecting,
  offline: WORDS.connection.away,
} as const

function Connection() {
  return (
    <p class="connection" data-state={connection()} role="status">
      {CONNECTION[connection()]}
    </p>
  )
}

export function Shell(props: { children: JSX.Element }) {
  const inbox = useInbox()
  const waiting = () => inbox.data?.items.length ?? 0
  const many = () => `${waiting()}${waitMore(inbox) ? "+" : ""}`
  createEffect(() => {
    document.title = `${waiting() > 0 ? `(${many()}) ` : ""}${title() ?? WORDS.nav[pageAbove()]} · ${WORDS.name}`
  })
  return (
    <div class="shell">
      <a
        class="skip"
        href="#content"
        onClick={(event) => (event.preventDefault(), document.querySelector<HTMLElement>("#content")?.focus())}
      >
        {WORDS.skip}
      </a>
      <header class="side">
        <a class="brand" href={link("now")}>
          <Mark />
          <span>{WORDS.name}</span>
        </a>
        <nav aria-label={WORDS.nav.label}>
          <For each={PAGES}>
            {(page) => <NavLink page={page} count={page === "inbox" && waiting() > 0 ? many() : ""} />}
          </For>
        </nav>
        <div class="side-end">
          <Connection />
          <label class="theme">
            <span class="visually-hidden">{WORDS.theme.label}</span>
            <select value={theme()} onChange={(event) => useTheme(event.currentTarget.value as Theme)}>
              <For each={THEMES}>{(name) => <option value={name}>{WORDS.theme[name]}</option>}</For>
            </select>
          </label>
        </div>
      </header>
      <Show when={connection() === "offline"}>
        <p class="offline" role="alert">
          {WORDS.connection.offline}
        </p>
      </Show>
      <main id="content" tabindex="-1">
        {props.children}
      </main>
    </div>
  )
}
