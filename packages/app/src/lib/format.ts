const number = new Intl.NumberFormat("en")

export const count = (value: number) => number.format(value)

const price = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** "$0.02", "$1,240.00", "<$0.01": a price that was paid is never shown as nothing. */
export function money(dollars: number): string {
  if (dollars === 0) return "$0"
  if (dollars < 0.01) return "<$0.01"
  return `$${price.format(dollars)}`
}

/** "1,204", "48.2k", "1.3M". */
export function tokens(value: number): string {
  if (value < 10_000) return count(value)
  // What would be rounded to a thousand thousands is a million.
  if (value < 999_950) return `${(value / 1_000).toFixed(1)}k`
  return `${(value / 1_000_000).toFixed(1)}M`
}

/** "41 s", "2 min", "2 min 05 s", "1 h 03 min", "19 d 23 h". */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  const rest = (value: number, unit: string) => (value === 0 ? "" : ` ${String(value).padStart(2, "0")} ${unit}`)
  if (minutes < 60) return `${minutes} min${rest(seconds % 60, "s")}`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return `${hours} h${rest(minutes % 60, "min")}`
  return `${Math.floor(hours / 24)} d${rest(hours % 24, "h")}`
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
const year = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" })
const whole = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" })

const sameDay = (a: number, b: number) => new Date(a).toDateString() === new Date(b).toDateString()

const sameYear = (a: number, b: number) => new Date(a).getFullYear() === new Date(b).getFullYear()

/** The time alone for today, with the day for what is older, and with the year where it was another. */
export function moment(at: number, now: number): string {
  if (sameDay(at, now)) return clock.format(at)
  return `${(sameYear(at, now) ? day : year).format(at)}, ${clock.format(at).slice(0, 5)}`
}

export const exactly = (at: number) => whole.format(at)

/** The last two folders of a path: enough to know a project by. */
export const shortPath = (path: string) => path.split(/[\\/]/).filter(Boolean).slice(-2).join("/") || path

export const bytes = (value: number) => {
  if (value < 1_000) return `${value} B`
  if (value < 1_000_000) return `${(value / 1_000).toFixed(1)} kB`
  return `${(value / 1_000_000).toFixed(1)} MB`
}
