/**
 * Says that an instance is closed, past the event loop. opencode answers the request for the end of an instance before its
 * plugins have ended, where one of them lets the event loop turn: what is asked meanwhile is kept for the next instance,
 * without our agents. So opencode's thread stands still for the few milliseconds that this takes.
 */
export type Closed = { of(instance: number): void; within(instance: number, ms: number): boolean }

export const createMemory = () => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)

export function closedIn(memory: SharedArrayBuffer): Closed {
  const last = new Int32Array(memory)
  return {
    of(instance) {
      Atomics.store(last, 0, instance)
      Atomics.notify(last, 0)
    },
    within(instance, ms) {
      const end = performance.now() + ms
      for (;;) {
        const seen = Atomics.load(last, 0)
        if (seen === instance) return true
        const left = end - performance.now()
        if (left <= 0) return false
        Atomics.wait(last, 0, seen, left)
      }
    },
  }
}
