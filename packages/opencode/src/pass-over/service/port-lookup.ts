import type { Pass } from "../domain/pass"

export type LookupStore = {
  /** Passes whose id begins or ends with these characters, the newest first. */
  lookup(text: string, limit: number): Promise<Pass[]>
}
