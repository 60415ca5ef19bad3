import { QueryClient, QueryClientProvider } from "@tanstack/solid-query"
import { render } from "solid-js/web"
import { App } from "./app"
import { ApiError } from "./lib/api"
import { enter } from "./lib/entrance"
import { theme, useTheme } from "./lib/theme"
import "./style/base.css"
import "./style/shell.css"
import "./style/parts.css"
import "./style/pages.css"
import "./style/forced.css"

useTheme(theme())

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // The server is on this very machine: what the browser knows of a network says nothing about it.
      networkMode: "always",
      staleTime: 5_000,
      // Events say when something is old; a refusal does not become a yes by asking again.
      refetchOnWindowFocus: false,
      retry: (times, error) => !(error instanceof ApiError) && times < 2,
    },
    mutations: { networkMode: "always" },
  },
})

await enter()
// A link may also be pasted into a page that is open already.
addEventListener("hashchange", () => void enter())

const root = document.querySelector("#root")
if (root) {
  render(
    () => (
      <QueryClientProvider client={client}>
        <App client={client} />
      </QueryClientProvider>
    ),
    root,
  )
}
