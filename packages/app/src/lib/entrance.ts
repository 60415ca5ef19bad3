import { createSignal } from "solid-js"
import { ApiError, signedIn, signIn } from "./api"
import { place } from "./route"
import { ticketIn, writePlace } from "./route-view"
import { WORDS } from "./words"

/** Why a link did not open the panel. */
const [refused, setRefused] = createSignal<string>()
export { refused }

/** Uses the ticket of the address, if there is one, and takes it out of there. Whoever is in already stays where they are. */
export async function enter() {
  const ticket = ticketIn(location.hash)
  if (ticket === undefined) return
  history.replaceState(null, "", writePlace(place()))
  setRefused(undefined)
  try {
    await signIn(ticket)
  } catch (caught) {
    if (signedIn()) return
    setRefused(caught instanceof ApiError ? WORDS.sign_in.expired : WORDS.state.unreachable)
  }
}
