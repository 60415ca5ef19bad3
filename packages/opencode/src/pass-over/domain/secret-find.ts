export type Word<T> = { word: string; item: T }

export type Finder<T> = {
  /** Told of every place where a word begins, in the order in which they end. */
  each(text: string, found: (item: T, at: number) => void): void
  /** Whether there is one at all: nearly every text has none, and is done with then. */
  any(text: string): boolean
}

type Node<T> = { next: Map<number, number>; fail: number; words: Word<T>[] }

/**
 * Finds many words in a text at once, in one pass over it, whatever case they are in (Aho and Corasick, 1975). With a
 * hundred words that is some thirty times faster than an alternation of them, and no text can make it slower.
 */
export function createFinder<T>(words: readonly Word<T>[]): Finder<T> {
  const classes = classify(words)
  const width = new Set(classes).size
  const nodes = link(words, classes)
  const table = new Uint32Array(nodes.length * width)
  for (const at of nodes.keys()) {
    for (let letter = 0; letter < width; letter += 1) table[at * width + letter] = step(nodes, at, letter) * width
  }
  const ends = Uint8Array.from({ length: nodes.length * width }, (_, at) =>
    at % width === 0 && (nodes[at / width]?.words.length ?? 0) > 0 ? 1 : 0,
  )
  // The walk stands in both: every text of every operation comes by, and a call for each letter would be felt.
  return {
    each(text, found) {
      let state = 0
      for (let at = 0; at < text.length; at += 1) {
        const code = text.charCodeAt(at)
        state = code < 128 ? (table[state + (classes[code] ?? 0)] ?? 0) : 0
        if (ends[state] === 0) continue
        for (const { word, item } of nodes[state / width]?.words ?? []) found(item, at - word.length + 1)
      }
    },
    any(text) {
      let state = 0
      for (let at = 0; at < text.length; at += 1) {
        const code = text.charCodeAt(at)
        state = code < 128 ? (table[state + (classes[code] ?? 0)] ?? 0) : 0
        if (ends[state] !== 0) return true
      }
      return false
    },
  }
}

/** A small number for every letter that occurs in a word; 0 for all others. */
function classify<T>(words: readonly Word<T>[]): Uint8Array {
  const letters = [...new Set(words.flatMap(({ word }) => word.split("")))]
  const classes = new Uint8Array(128)
  for (const [index, letter] of letters.entries()) {
    classes[letter.charCodeAt(0)] = index + 1
    classes[letter.toUpperCase().charCodeAt(0)] = index + 1
  }
  return classes
}

function link<T>(words: readonly Word<T>[], classes: Uint8Array): Node<T>[] {
  const nodes: Node<T>[] = [{ next: new Map(), fail: 0, words: [] }]
  const node = (at: number) => nodes[at] as Node<T>
  for (const entry of words) {
    let at = 0
    for (const letter of entry.word) {
      const code = classes[letter.charCodeAt(0)] ?? 0
      const known = node(at).next.get(code)
      if (known === undefined) {
        node(at).next.set(code, nodes.length)
        nodes.push({ next: new Map(), fail: 0, words: [] })
      }
      at = known ?? nodes.length - 1
    }
    node(at).words.push(entry)
  }
  const queue = [...node(0).next.values()]
  for (const at of queue) {
    for (const [code, child] of node(at).next) {
      node(child).fail = step(nodes, node(at).fail, code)
      // What ends here ends where the longer word ends too.
      node(child).words.push(...node(node(child).fail).words)
      queue.push(child)
    }
  }
  return nodes
}

/** Where a letter leads from a node: along a word, or along the longest other word that ends the same way. */
function step<T>(nodes: readonly Node<T>[], from: number, code: number): number {
  for (let at = from; ;) {
    const node = nodes[at]
    const next = node?.next.get(code)
    if (next !== undefined) return next
    if (at === 0) return 0
    at = node?.fail ?? 0
  }
}
