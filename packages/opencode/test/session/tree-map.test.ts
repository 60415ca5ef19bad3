import { expect, test } from "bun:test"
import { enterTree, homeOf } from "../../src/session/home"
import { earAt, leaveTree } from "../../src/session/tree-map"

const HOME = { directory: "/project", worktree: "/project" }

test("whoever comes first, the instance of a tree or who made it, both hear with the same ear", () => {
  const instance = earAt("/trees/1")
  enterTree("/trees/1", HOME)
  expect(earAt("/trees/1")).toBe(instance)
  expect(homeOf("/trees/1")).toEqual(HOME)
})

test("a tree that was given back is heard anew, and is known for a tree still", () => {
  enterTree("/trees/2", HOME)
  const before = earAt("/trees/2")
  expect(leaveTree("/trees/2")).toBe(true)
  expect(leaveTree("/trees/2")).toBe(false)
  expect(earAt("/trees/2")).not.toBe(before)
  expect(homeOf("/trees/2")).toEqual(HOME)
})
