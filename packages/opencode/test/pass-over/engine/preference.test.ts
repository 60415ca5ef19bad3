import { expect, test } from "bun:test"
import type { Written } from "../../../src/pass-over/domain/config"
import {
  dropPreference,
  explainAll,
  explainPair,
  preview,
  savePreference,
} from "../../../src/pass-over/service/preference"
import { PassOverConfig } from "../../../src/config"
import { createEngineWorld } from "../support/engine"
import { createFolder } from "../support/folder"

const AGENTS = [
  { name: "alice", mode: "primary" },
  { name: "audit", mode: "subagent" },
  { name: "scout", mode: "subagent" },
] as const

const file: Written = {
  origin: "project",
  path: ".opencode/pass-over.json",
  preferences: { pairs: { "alice->audit": { timeout_ms: 9_000 } } },
}
const scene = { directory: "/project", files: [file], agents: AGENTS }
const pair = { level: "pair", from: "alice", to: "audit" } as const

test("an edit is previewed for every pair, saved, holds from then on, and can be dropped again", async () => {
  using world = createEngineWorld()
  const { engine } = world
  const edit = { key: pair, set: { timeout_ms: 7_000 } }
  const timeout = async () => {
    const { settings } = await explainPair(engine, scene, "alice", "audit")
    return settings.find((one) => one.setting === "timeout_ms")
  }

  expect(await preview(engine, scene, edit)).toMatchObject({
    ok: true,
    changes: [
      {
        from: "alice",
        to: "audit",
        setting: "timeout_ms",
        before: 9_000,
        after: 7_000,
        where: "pairs.alice->audit.timeout_ms in the stored preferences",
      },
    ],
  })
  expect((await timeout())?.value).toBe(9_000)

  expect(await savePreference(engine, { directory: "/project", edit, actor: "ada" })).toMatchObject({ ok: true })
  expect(await timeout()).toMatchObject({
    value: 7_000,
    where: "pairs.alice->audit.timeout_ms in the stored preferences",
    shadows: [{ value: 9_000, where: "pairs.alice->audit.timeout_ms in .opencode/pass-over.json" }, {}, {}, {}],
  })
  expect(await engine.store.listPreferences("/project")).toMatchObject([{ key: pair, updated_by: "ada" }])

  expect(await dropPreference(engine, { directory: "/project", key: pair })).toBe(true)
  expect((await timeout())?.value).toBe(9_000)
})

test("an edit that contradicts itself is neither previewed nor saved, and says what to do", async () => {
  using world = createEngineWorld()
  const { engine } = world
  await savePreference(engine, { directory: "/project", edit: { key: pair, set: { auto_return: true } }, actor: "ada" })
  const edit = { key: pair, set: { enabled: false } }
  const refusal = { code: "E031", suggestion: 'take auto_return out, or set "enabled": true' }
  expect(await preview(engine, scene, edit)).toMatchObject({ ok: false, refusal })
  expect(await savePreference(engine, { directory: "/project", edit, actor: "ada" })).toMatchObject({
    ok: false,
    refusal,
  })
  expect(await engine.store.preferences("/project")).toMatchObject({ pairs: { "alice->audit": { auto_return: true } } })
  // Both at once is what was meant.
  const both = { key: pair, set: { enabled: false, auto_return: null } }
  expect(await savePreference(engine, { directory: "/project", edit: both, actor: "ada" })).toMatchObject({ ok: true })
})

test("a constraint that nothing enforces is not saved; one that was stored before takes nothing else with it", async () => {
  using world = createEngineWorld()
  const { store } = world.engine
  const edit = { key: pair, set: { constraints: ["be careful"] } }
  const saved = await savePreference(world.engine, { directory: "/project", edit, actor: "ada" })
  expect(saved).toMatchObject({
    ok: false,
    refusal: { code: "E030", message: expect.stringContaining('"be careful" is nothing that can be enforced') },
  })
  const stored = { directory: "/project", key: pair, before: {}, settings: edit.set, actor: "ada", at: 1 }
  expect(await store.putPreference(stored)).toBe("written")
  expect(await store.preferences("/project")).toMatchObject({ pairs: { "alice->audit": edit.set } })
})

test("two who edit the same at once: one of them is told", async () => {
  using world = createEngineWorld()
  const { engine } = world
  const save = (timeout_ms: number) =>
    savePreference(engine, { directory: "/project", edit: { key: pair, set: { timeout_ms } }, actor: "ada" })
  const saved = await Promise.all([save(1), save(2)])
  expect(saved.filter((one) => one.ok)).toHaveLength(1)
  expect(saved.find((one) => !one.ok)).toMatchObject({ refusal: { code: "E040" } })
})

test("the matrix has every pair that a pass could be made between", async () => {
  using world = createEngineWorld()
  const all = await explainAll(world.engine, scene)
  expect(all.map(({ from, to }) => `${from}->${to}`).toSorted()).toEqual([
    "alice->audit",
    "alice->scout",
    "scout->audit",
  ])
})

test("the guide's names are there and do what it says", async () => {
  using folder = createFolder()
  await Bun.write(folder.at("pass-over.json"), `{ "pairs": { "alice->audit": { "timeout_ms": 9000 } } }`)
  const preferences = PassOverConfig.load(folder.at("pass-over.json"))
  expect(PassOverConfig.validate(preferences)).toBe(true)
  expect(PassOverConfig.validate({ pairs: { "a->b": { enabled: false, auto_return: true } } })).toBe(false)
  const written = [{ ...file, preferences }]
  expect(PassOverConfig.resolvePreference("alice", "audit", undefined, written).timeout_ms).toBe(9_000)
  expect(PassOverConfig.resolvePreference("alice", "audit", { timeout_ms: 5 }, written).timeout_ms).toBe(5)
})

test("what the environment says stands in front of what is stored, and an edit says that it changes nothing", async () => {
  using world = createEngineWorld()
  const { engine } = world
  const environment: Written = {
    origin: "environment",
    path: "PASS_OVER_CONFIG_CONTENT",
    preferences: { pairs: { "alice->audit": { timeout_ms: 5_000 } } },
  }
  const spoken = { ...scene, files: [environment, file] }
  const edit = { key: pair, set: { timeout_ms: 7_000 } }
  expect(await preview(engine, spoken, edit)).toMatchObject({ ok: true, changes: [] })
  expect(await savePreference(engine, { directory: "/project", edit, actor: "ada" })).toMatchObject({ ok: true })
  const { settings } = await explainPair(engine, spoken, "alice", "audit")
  expect(settings.find((one) => one.setting === "timeout_ms")).toMatchObject({
    value: 5_000,
    where: "pairs.alice->audit.timeout_ms in PASS_OVER_CONFIG_CONTENT",
    shadows: [
      { value: 7_000, source: { origin: "stored" } },
      { value: 9_000, source: { origin: "project" } },
      {},
      {},
      {},
    ],
  })
})
