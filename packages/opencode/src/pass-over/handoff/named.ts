/** A record by names that stand in files: a step may be called `constructor` like any other. */
export const named = <T>(from: Readonly<Record<string, T>> = {}): Record<string, T> =>
  Object.assign(Object.create(null), from)
