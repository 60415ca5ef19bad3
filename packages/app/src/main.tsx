import { QueryClient, QueryClientProvider } from "@tanstack/solid-query"
import { render } from "solid-js/web"
import { App } from "./app"
import { ApiError, signIn } from "./lib/api"
import { ticketIn } from "./lib/route-view"
import { theme, useTheme } from "./lib/theme"
import "./style/base.css"
import "./style/shell.css"
import "./style/parts.css"
import "./style/pages.css"

useTheme(theme())

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // Events say when something is old; a refusal does not become a yes by asking again.
      refetchOnWindowFocus: false,
      retry: (times, error) => !(error instanceof ApiError) && times < 2,
    },
  },
})

const ticket = ticketIn(location.hash)
if (ticket !== undefined) {
  history.replaceState(null, "", "#/now")
  await signIn(ticket)
}

const root = document.querySelector("#root")
if (root) {
  render(
    () => (
      <QueryClientProvider client={client}>
        <App client={client} expired={ticket !== undefined} />
      </QueryClientProvider>
    ),
    root,
  )
}
