import { afterAll, beforeEach, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { place } from "../src/identity"
import { surfacePath } from "../src/paths"
import { announceSurface, surfaceHere, sweepSurfaces } from "../src/surface"
import { createFolder } from "./pass-over/support/folder"

const folder = createFolder()
const before = process.env.PASS_OVER_DB

beforeEach(() => {
  process.env.PASS_OVER_DB = folder.at("pass-over.db")
  mkdirSync(dirname(surfacePath(1)), { recursive: true })
})

afterAll(() => {
  process.env.PASS_OVER_DB = before
  if (before === undefined) delete process.env.PASS_OVER_DB
  folder[Symbol.dispose]()
})

// Higher than any system gives out.
const NOBODY = 2 ** 30

test("the terminal of this process puts questions from when it says so until it goes", () => {
  expect(surfaceHere()).toBe(false)
  const over = announceSurface()
  expect(surfaceHere()).toBe(true)
  sweepSurfaces()
  expect(surfaceHere()).toBe(true)
  over()
  expect(surfaceHere()).toBe(false)
})

test("what a killed one of the same pid left is no terminal, and goes", () => {
  for (const mark of ["", `1\n${place()}`]) {
    writeFileSync(surfacePath(process.pid), mark)
    expect(surfaceHere()).toBe(false)
  }
  sweepSurfaces()
  expect(existsSync(surfacePath(process.pid))).toBe(false)
})

test("words of processes that are gone go, but not those of another machine, and nothing else", () => {
  const mark = () => {
    const over = announceSurface()
    const text = readFileSync(surfacePath(process.pid), "utf8")
    over()
    return text
  }
  writeFileSync(surfacePath(NOBODY), mark())
  writeFileSync(surfacePath(NOBODY + 1), "1\nanother boot")
  writeFileSync(`${surfacePath(NOBODY)}.txt`, "")
  sweepSurfaces()
  expect(existsSync(surfacePath(NOBODY))).toBe(false)
  expect(existsSync(surfacePath(NOBODY + 1))).toBe(true)
  expect(existsSync(`${surfacePath(NOBODY)}.txt`)).toBe(true)
})
