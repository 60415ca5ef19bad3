import { createSignal, onCleanup } from "solid-js"
import { readPlace, ticketIn, writePlace, type Page, type Place } from "./route-view"

const [place, setPlace] = createSignal<Place>(readPlace(location.hash))
export { place }

type Holds = (next: Place) => boolean
let holds: Holds = () => false

/** The way to where somebody wanted to go, while they are asked whether they leave something behind. */
const [held, setHeld] = createSignal<() => void>()
export { held }

/** For as long as this page is open: says whether going somewhere else would lose something, so that it is asked first. */
export function holdHere(loses: Holds) {
  holds = loses
  onCleanup(() => {
    holds = () => false
    setHeld(undefined)
  })
}

export const stay = () => setHeld(undefined)

export function leave() {
  const onward = held()
  setHeld(undefined)
  onward?.()
}

addEventListener("hashchange", () => {
  const { hash } = location
  // The ticket of a link is no place.
  if (ticketIn(hash) !== undefined) return
  const before = place()
  const now = readPlace(hash)
  if (holds(now)) {
    history.replaceState(null, "", writePlace(before))
    setHeld(() => () => void (location.hash = hash))
    return
  }
  setPlace(now)
  if (before.page !== now.page || before.id !== now.id) scrollTo(0, 0)
})

export const link = (page: Page, more: Omit<Partial<Place>, "page"> = {}) => writePlace({ ...more, page })

export function go(page: Page, more: Omit<Partial<Place>, "page"> = {}, how: "push" | "replace" = "push") {
  const hash = writePlace({ ...more, page })
  if (how === "push") {
    location.hash = hash
    return
  }
  const now = readPlace(hash)
  if (holds(now)) {
    setHeld(() => () => go(page, more, how))
    return
  }
  history.replaceState(null, "", hash)
  setPlace(now)
}
