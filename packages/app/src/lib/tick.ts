import { createSignal, onCleanup } from "solid-js"

const [now, setNow] = createSignal(Date.now())
let users = 0
let timer: ReturnType<typeof setInterval> | undefined

/** The time, for as long as somebody looks at it: one clock for the whole page. */
export function useNow() {
  users += 1
  setNow(Date.now())
  timer ??= setInterval(() => setNow(Date.now()), 1_000)
  onCleanup(() => {
    users -= 1
    if (users > 0) return
    clearInterval(timer)
    timer = undefined
  })
  return now
}
