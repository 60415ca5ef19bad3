/** Something a reply waits at until the test lets it go on. See `hold`. */
export type Gate = {
  /** Resolves when the first reply has come to wait here. */
  readonly reached: Promise<void>
  /** Resolves when the gate is open; it never closes again. */
  readonly opened: Promise<void>
  open(): void
  /** Called by the model; a test has no need of it. */
  reach(): void
}

export function gate(): Gate {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return { reached: reached.promise, opened: opened.promise, open: opened.resolve, reach: reached.resolve }
}
