const number = new Intl.NumberFormat("en")

export const count = (value: number) => number.format(value)

/** "$0.02", "$1.40", "<$0.01": a price that was paid is never shown as nothing. */
export function money(dollars: number): string {
  if (dollars === 0) return "$0"
  if (dollars < 0.01) return "<$0.01"
  return `$${dollars.toFixed(2)}`
}

/** "1,204", "48.2k", "1.3M". */
export function tokens(value: number): string {
  if (value < 10_000) return count(value)
  if (value < 1_000_000) return `${(value / 1_000).toFixed(1)}k`
  return `${(value / 1_000_000).toFixed(1)}M`
}

/** "41 s", "2 min", "2 min 05 s", "1 h 03 min". */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  const rest = (value: number, unit: string) => (value === 0 ? "" : ` ${String(value).padStart(2, "0")} ${unit}`)
  if (minutes < 60) return `${minutes} min${rest(seconds % 60, "s")}`
  return `${Math.floor(minutes / 60)} h${rest(minutes % 60, "min")}`
}

/** "4:09", "1:02:03": for what counts down. */
export function countdown(ms: number): string {
  const all = Math.max(0, Math.ceil(ms / 1_000))
  const [hours, minutes, seconds] = [Math.floor(all / 3_600), Math.floor(all / 60) % 60, all % 60]
  const tail = `${hours > 0 ? String(minutes).padStart(2, "0") : minutes}:${String(seconds).padStart(2, "0")}`
  return hours > 0 ? `${hours}:${tail}` : tail
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" })
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" })
const whole = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" })

const sameDay = (a: number, b: number) => new Date(a).toDateString() === new Date(b).toDateString()

/** The time alone for today, with the day for what is older. */
export const moment = (at: number, now: number) =>
  sameDay(at, now) ? clock.format(at) : `${day.format(at)}, ${clock.format(at).slice(0, 5)}`

export const exactly = (at: number) => whole.format(at)

/** The last two folders of a path: enough to know a project by. */
export const shortPath = (path: string) => path.split(/[\\/]/).filter(Boolean).slice(-2).join("/") || path

export const bytes = (value: number) => {
  if (value < 1_000) return `${value} B`
  if (value < 1_000_000) return `${(value / 1_000).toFixed(1)} kB`
  return `${(value / 1_000_000).toFixed(1)} MB`
}
