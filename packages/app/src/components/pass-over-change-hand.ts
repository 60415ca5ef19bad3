import { createMemo, createSignal, onCleanup, onMount } from "solid-js"
import { createStore } from "solid-js/store"
import type { Change } from "../../../opencode/src/server/schema-decide"
import type { Deeds } from "./pass-over-change-deeds"
import {
  accept,
  deed,
  hunks,
  PAGE,
  replacement,
  roomFor,
  standing,
  stopKey,
  stops,
  unseen,
  type Hunk,
  type Layout,
  type Stop,
} from "./pass-over-change-view"

const KEY = "pass-over-diff"
const [layout, setLayout] = createSignal<Layout>(localStorage.getItem(KEY) === "split" ? "split" : "unified")

export { layout }

export function turn() {
  const next = layout() === "split" ? "unified" : "split"
  localStorage.setItem(KEY, next)
  setLayout(next)
}

/** A place in one of the changes of a pass. */
export type Spot = Stop & { change_id: string }

const fileKey = ({ change_id, path }: Pick<Spot, "change_id" | "path">) => `${change_id} ${path}`
const spotKey = (spot: Spot) => `${spot.change_id} ${stopKey(spot)}`

/** With more files than this each is opened when somebody comes to it. */
const FEW = 5

/** Which files are open, and how much of each. */
function useShown(changes: () => readonly Change[]) {
  const [folded, setFolded] = createStore<Record<string, boolean>>({})
  const [rooms, setRooms] = createStore<Record<string, number>>({})
  const parsed = createMemo(
    () =>
      new Map<string, Hunk[]>(
        changes().flatMap(({ change_id, files }) =>
          files.map(({ path, patch }) => [fileKey({ change_id, path }), hunks(patch)] as const),
        ),
      ),
  )
  const many = ({ change_id }: Pick<Spot, "change_id">) => {
    const change = changes().find((one) => one.change_id === change_id)
    return change !== undefined && (change.files.length > FEW || replacement(change, changes()) !== undefined)
  }
  const parts = (spot: Spot) => parsed().get(fileKey(spot)) ?? []
  const room = (spot: Spot) => rooms[fileKey(spot)] ?? PAGE
  return {
    parts,
    room,
    open: (spot: Spot) => !(folded[fileKey(spot)] ?? many(spot)),
    fold: (spot: Spot, folded: boolean) => setFolded(fileKey(spot), folded),
    unseen: (spot: Spot) => unseen(parts(spot), room(spot), spot.hunk),
    more: (spot: Spot) => setRooms(fileKey(spot), room(spot) + PAGE),
    reveal(spot: Spot) {
      setFolded(fileKey(spot), false)
      setRooms(fileKey(spot), Math.max(room(spot), roomFor(parts(spot), spot.hunk)))
    },
  }
}

/** Brings a place to the eye; false where it had to be brought. */
function seen(): boolean {
  const place = document.querySelector('.stop[data-current="true"]')
  if (!place) return false
  const { top, bottom } = place.getBoundingClientRect()
  if (bottom > 0 && top < innerHeight) return true
  place.scrollIntoView({ block: "nearest" })
  return false
}

/**
 * Where somebody is in the changes of a pass, moved by J and K and by whatever has the focus. There is one for all of
 * them, so that a key means one place; and it decides about nothing that is not before the eye.
 */
export function useHand(changes: () => readonly Change[], deeds: Deeds) {
  const [current, setCurrent] = createSignal<string>()
  const [declining, setDeclining] = createSignal<Spot>()
  const shown = useShown(changes)
  const over = ({ change_id }: Pick<Spot, "change_id">) => {
    const change = changes().find((one) => one.change_id === change_id)
    return change === undefined || standing(change) !== undefined || replacement(change, changes()) !== undefined
  }
  const places = createMemo(() =>
    changes()
      .filter((change) => replacement(change, changes()) === undefined)
      .flatMap(({ change_id, files }) => stops(files).map((stop): Spot => ({ change_id, ...stop }))),
  )
  const index = () => places().findIndex((spot) => spotKey(spot) === current())
  const move = (by: number) => {
    const at = index()
    const next = places()[at < 0 ? 0 : Math.min(Math.max(0, at + by), places().length - 1)]
    if (!next) return
    shown.reveal(next)
    setCurrent(spotKey(next))
  }
  const take = ({ change_id, ...stop }: Spot) => void deeds.review(change_id, [accept(stop)])
  const press = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey } = event
    const typing = event.target instanceof Element && event.target.closest("input, textarea, select, dialog") !== null
    const what = deed({ key, ctrlKey, metaKey, altKey, typing })
    if (what === undefined) return
    event.preventDefault()
    if (what === "layout") return turn()
    if (what === "next" || what === "previous") return move(what === "next" ? 1 : -1)
    const spot = places()[index()]
    if (!spot || over(spot) || deeds.busy() || !seen()) return
    if (what === "decline") return setDeclining(spot)
    if (shown.unseen(spot) === 0) take(spot)
  }
  onMount(() => addEventListener("keydown", press))
  onCleanup(() => removeEventListener("keydown", press))
  return {
    ...shown,
    layout,
    busy: deeds.busy,
    /** Nothing is decided any more about what has been applied, or replaced. */
    over,
    at: (spot: Spot) => spotKey(spot) === current(),
    go: (spot: Spot) => setCurrent(spotKey(spot)),
    accept: take,
    decline: (spot: Spot) => setDeclining(spot),
    declining,
    close: () => setDeclining(undefined),
  }
}

export type Hand = ReturnType<typeof useHand>
