import type { Clock } from "./port"

/** What a promise brings within a time; nothing where it takes longer or fails. Who wants to know why it failed asks it. */
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
