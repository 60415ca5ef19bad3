import { nearest } from "../domain/nearest"

/** ' Did you mean "research"?', or nothing. */
export function meant(name: string, known: Iterable<string>): string {
  const found = nearest(name.slice(0, 100), [...known])
  return found === undefined ? "" : ` Did you mean "${found}"?`
}
