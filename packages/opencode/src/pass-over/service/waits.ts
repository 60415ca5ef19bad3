import type { Gate } from "../domain/gate"

/** Who in this process waits for which answer. */
export type Waits = {
  on(gate_id: string, heard: (gate: Gate) => void): () => void
  tell(gate: Gate): void
  ids(): string[]
}

export function createWaits(): Waits {
  const waiting = new Map<string, Set<(gate: Gate) => void>>()
  return {
    on(gate_id, heard) {
      const known = waiting.get(gate_id) ?? new Set()
      waiting.set(gate_id, known.add(heard))
      return () => {
        known.delete(heard)
        if (known.size === 0) waiting.delete(gate_id)
      }
    },
    tell: (gate) => {
      for (const heard of waiting.get(gate.gate_id) ?? []) heard(gate)
    },
    ids: () => [...waiting.keys()],
  }
}
