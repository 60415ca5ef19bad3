import { expect, test } from "bun:test"
import { wire, type End } from "../../src/thread/wire"

type Adder = {
  add(a: number, b?: number): Promise<number | undefined>
  fail(): Promise<void>
  note(what: string): void
}

/** Two ends, with a turn of the event loop between them. */
function pair(): [End, End] {
  const heard: ((message: string) => void)[] = []
  const end = (mine: number): End => ({
    post: (message) => void setImmediate(() => heard[1 - mine]?.(message)),
    listen: (hear) => (heard[mine] = hear),
  })
  return [end(0), end(1)]
}

test("what one thread asks the other does, in the order in which it was asked; what goes wrong arrives as its sentence", async () => {
  const [here, there] = pair()
  const noted: string[] = []
  wire<object, Adder>(there, {
    add: async (a, b) => (noted.push("add"), b === undefined ? undefined : a + b),
    fail: () => Promise.reject(new Error("the disk is full")),
    note: (what) => void noted.push(what),
  })
  const far = wire<Adder, object>(here, {})
  const first = far.note.asEvent("first")
  const sum = far.add(1, 2)
  const last = far.note.asEvent("last")
  expect(await sum).toBe(3)
  await Promise.all([first, last])
  expect(noted).toEqual(["first", "add", "last"])
  expect(await far.add(1)).toBeUndefined()
  expect(far.fail()).rejects.toThrow("the disk is full")
})

test("whoever waits for a thread that has ended is told so", async () => {
  const [here] = pair()
  const far = wire<Adder, object>(here, {})
  const waiting = far.add(1, 2)
  far.$close(new Error("its thread has ended"))
  expect(waiting).rejects.toThrow("its thread has ended")
  expect(far.add(1, 2)).rejects.toThrow("closed")
})
