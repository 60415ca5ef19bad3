import { expect, test } from "bun:test"
import { inLanes, type Job } from "./lanes"
import type { Sink } from "./suite"

const bytes = (text: string) => new TextEncoder().encode(text)

function watched() {
  const shown: string[] = []
  const to: Sink = { write: (chunk) => shown.push(new TextDecoder().decode(chunk)) }
  const told = {
    begin: (name: string) => void shown.push(`(${name}`),
    end: ({ result }: { result: number }) => void shown.push(`${result})`),
  }
  return { shown, to, told }
}

test("what jobs print side by side is shown by itself, in their order, and nothing of it is lost", async () => {
  const { shown, to, told } = watched()
  const second = Promise.withResolvers<void>()
  const jobs: Job<number>[] = [
    {
      name: "slow",
      async run(screen) {
        screen.write(bytes("s1"))
        await second.promise
        screen.write(bytes("s2"))
        return 1
      },
    },
    {
      name: "quick",
      async run(screen) {
        screen.write(bytes("q"))
        second.resolve()
        return 2
      },
    },
    { name: "last", run: async (screen) => (screen.write(bytes("l")), 3) },
  ]
  await inLanes(jobs, 2, to, told)
  expect(shown).toEqual(["(slow", "s1", "s2", "1)", "(quick", "q", "2)", "(last", "l", "3)"])
})

test("no more run at a time than there are lanes", async () => {
  const { to, told } = watched()
  const at = { once: 0, most: 0 }
  const job = (name: string): Job<number> => ({
    name,
    async run() {
      at.most = Math.max(at.most, (at.once += 1))
      await Bun.sleep(5)
      return (at.once -= 1)
    },
  })
  await inLanes(["a", "b", "c", "d", "e"].map(job), 2, to, told)
  expect(at).toEqual({ once: 0, most: 2 })
})

test("a job that throws is not waited for", async () => {
  const { to, told } = watched()
  const bad: Job<number> = { name: "bad", run: () => Promise.reject(new Error("no")) }
  await expect(inLanes([bad], 2, to, told)).rejects.toThrow("no")
})
