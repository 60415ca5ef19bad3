import { createSignal } from "solid-js"
import { readPlace, ticketIn, writePlace, type Page, type Place } from "./route-view"

const [place, setPlace] = createSignal<Place>(readPlace(location.hash))

addEventListener("hashchange", () => {
  // The ticket of a link is no place.
  if (ticketIn(location.hash) !== undefined) return
  const before = place()
  const now = readPlace(location.hash)
  setPlace(now)
  if (before.page !== now.page || before.id !== now.id) scrollTo(0, 0)
})

export { place }
export const link = (page: Page, more: Omit<Partial<Place>, "page"> = {}) => writePlace({ ...more, page })

export function go(page: Page, more: Omit<Partial<Place>, "page"> = {}, how: "push" | "replace" = "push") {
  const hash = writePlace({ ...more, page })
  if (how === "push") {
    location.hash = hash
    return
  }
  history.replaceState(null, "", hash)
  setPlace(readPlace(hash))
}
