import { expect, test } from "bun:test"
import type { Log } from "../src/pass-over/service/port"
import { runtime, silence } from "../src/runtime"
import { createFolder } from "./pass-over/support/folder"

test("the engine's words reach opencode's log through a project that is open, whichever it was made for", async () => {
  using folder = createFolder()
  const before = process.env.PASS_OVER_DB
  process.env.PASS_OVER_DB = folder.at("pass-over.db")
  const heard: string[] = []
  const voice =
    (name: string): Log =>
    (_level, message) =>
      void heard.push(`${name} ${message}`)
  const [first, second, third] = [voice("first"), voice("second"), voice("third")]
  const made = runtime(first)
  if (!made.ok) throw new Error(made.problem)
  const { engine, keeper } = made
  engine.log("warn", "1")
  expect(runtime(second)).toBe(made)
  engine.log("warn", "2")
  silence(second)
  engine.log("warn", "3")
  // With none open, whoever was there last may still be heard.
  silence(first)
  engine.log("warn", "4")
  runtime(third)
  engine.log("warn", "5")
  expect(heard).toEqual(["first 1", "second 2", "first 3", "first 4", "third 5"])
  await keeper.leave()
  process.env.PASS_OVER_DB = before
  if (before === undefined) delete process.env.PASS_OVER_DB
})
