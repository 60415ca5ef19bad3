import type { Clock } from "./port"

/** What a promise brings within a time, or nothing. */
export async function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>()
  const unarm = clock.after(ms, () => late.resolve(undefined))
  try {
    return await Promise.race([promise, late.promise])
  } catch {
    return undefined
  } finally {
    unarm()
  }
}
