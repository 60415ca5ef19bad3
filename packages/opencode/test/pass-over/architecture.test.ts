import { describe, expect, test } from "bun:test"
import { Glob } from "bun"
import { dirname, join, relative } from "node:path"

const SRC = join(import.meta.dir, "../../src")
const CORE = "pass-over"

type Layer = "domain" | "handoff" | "service" | "store" | "root" | "edge"

// What each layer of the core may import besides itself. This list is the architecture. Edges may import anything in
// the core; nothing in the core may import an edge.
const MAY_IMPORT: Record<Exclude<Layer, "edge">, (string | RegExp)[]> = {
  domain: ["zod", "remeda", "diff", "leven", "@cfworker/json-schema", "re2js"],
  handoff: ["domain", "zod", "remeda", "yaml", "@marcbachmann/cel-js"],
  service: ["domain", "handoff"],
  store: ["domain", /^drizzle-orm(?:\/|$)/, "zod", "remeda", "jsonc-parser", "bun:sqlite", /^node:/],
  root: ["domain", "handoff", "service", "store"],
}

// The store carries out the operations of these ports, and sees nothing else of the service.
const PORT = new RegExp(`^${CORE}/service/port(-[a-z]+)?$`)

type Import = { from: string; layer: Layer; specifier: string; target: string; type_only: boolean }

// A text match and not a transpiler's scan: that one drops type-only imports, which are dependencies too.
const STATEMENT = /(?:^|[;}\n])\s*(import|export)\b(?:(?!\bfrom\b)[^;"'`])*?\bfrom\s*["']([^"']+)["']/g
const BARE = /(?:^|[;}\n])\s*import\s*["']([^"']+)["']/g
const DYNAMIC = /\b(?:import|require)\s*\(\s*["'`]([^"'`]+)["'`]/g

const uncommented = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(^|[^:"'`])\/\/.*$/gm, "$1")

function specifiers(text: string): { specifier: string; type_only: boolean }[] {
  const code = uncommented(text)
  return [
    ...[...code.matchAll(STATEMENT)].map(([whole, , specifier = ""]) => ({
      specifier,
      type_only: /(?:import|export)\s+type\b/.test(whole),
    })),
    ...[...code.matchAll(BARE)].map(([, specifier = ""]) => ({ specifier, type_only: false })),
    ...[...code.matchAll(DYNAMIC)].map(([, specifier = ""]) => ({ specifier, type_only: false })),
  ]
}

function layerOf(path: string): Layer {
  const [top, second, ...deeper] = path.split("/")
  if (top !== CORE) return "edge"
  if (second === undefined || deeper.length === 0) return "root"
  return (["domain", "handoff", "service", "store"] as const).find((layer) => layer === second) ?? "root"
}

/** Where an import leads: a path below src, or the name of a package. */
const target = (from: string, specifier: string) =>
  specifier.startsWith(".") ? relative(SRC, join(SRC, dirname(from), specifier)) : specifier

const files = [...new Glob("**/*.{ts,tsx}").scanSync(SRC)].toSorted()
const imports: Import[] = (
  await Promise.all(
    files.map(async (from) => {
      const found = specifiers(await Bun.file(join(SRC, from)).text())
      return found.map((one) => ({ ...one, from, layer: layerOf(from), target: target(from, one.specifier) }))
    }),
  )
).flat()

function allowed({ layer, specifier, target, type_only }: Import): boolean {
  if (layer === "edge") return true
  const to = specifier.startsWith(".") ? layerOf(target) : specifier
  if (to === layer) return true
  if (layer === "store" && PORT.test(target)) return type_only
  return MAY_IMPORT[layer].some((may) => (typeof may === "string" ? may === to : may.test(to)))
}

const told = ({ from, specifier, type_only }: Import) => `${from} imports ${type_only ? "types of " : ""}${specifier}`

describe("the arrow", () => {
  for (const layer of ["domain", "service", "store"] as const) {
    test(`${layer} imports itself and ${MAY_IMPORT[layer].join(", ")}${layer === "store" ? " and the port's types" : ""}, and nothing else`, () => {
      const mine = imports.filter((one) => one.layer === layer)
      // A scan that found nothing must not pass.
      expect(files.filter((file) => layerOf(file) === layer).length).toBeGreaterThan(5)
      expect(mine.length).toBeGreaterThan(10)
      expect(mine.filter((one) => !allowed(one)).map(told)).toEqual([])
    })
  }

  test("handoff imports itself, domain, zod, remeda, a YAML reader and the expression language", () => {
    const mine = imports.filter((one) => one.layer === "handoff")
    expect(mine.length).toBeGreaterThan(10)
    expect(mine.filter((one) => !allowed(one)).map(told)).toEqual([])
  })

  test("only pass-over/index.ts joins store and service", () => {
    expect(files.filter((file) => layerOf(file) === "root")).toEqual([`${CORE}/index.ts`])
    const joining = imports.filter((one) => one.layer === "root").map((one) => layerOf(one.target))
    expect(joining).toContain("store")
    expect(joining).toContain("service")
    expect(imports.filter((one) => one.layer === "root" && !allowed(one)).map(told)).toEqual([])
  })

  test("nothing in the core imports an edge or leaves src", () => {
    const core = imports.filter((one) => one.layer !== "edge" && one.specifier.startsWith("."))
    expect(core.length).toBeGreaterThan(50)
    const strays = core.filter((one) => layerOf(one.target) === "edge" || one.target.startsWith(".."))
    expect(strays.map(told)).toEqual([])
  })

  test("there are edges, and they use the core", () => {
    const edges = imports.filter((one) => one.layer === "edge" && one.target.startsWith(`${CORE}/`))
    expect(edges.length).toBeGreaterThan(5)
  })
})

describe("the core touches no clock, no chance, no process and no network of its own", () => {
  const GLOBALS = [
    /(?<![.\w])(?:Buffer|process|Bun|Deno|console|crypto|performance)\.(?=\w)/,
    /(?<![.\w])(?:fetch|setTimeout|setInterval|setImmediate|queueMicrotask)\(/,
    /\b(?:Date\.now|Math\.random|globalThis)\b|\bnew Date\(\s*\)/,
  ]

  for (const layer of ["domain", "handoff", "service"] as const) {
    test(`in ${layer}`, async () => {
      const mine = files.filter((file) => layerOf(file) === layer)
      expect(mine.length).toBeGreaterThan(5)
      const texts = await Promise.all(
        mine.map(async (file) => ({ file, text: await Bun.file(join(SRC, file)).text() })),
      )
      const strays = texts.flatMap(({ file, text }) => {
        const code = uncommented(text)
        return GLOBALS.flatMap((pattern) => pattern.exec(code)?.[0] ?? []).map((found) => `${file} uses ${found}`)
      })
      expect(strays).toEqual([])
    })
  }
})

describe("the scan", () => {
  test("sees every way to import something", () => {
    const text = `
import { z } from "zod"
import type { A } from "./a"
import { type B,
  C,
} from "./b"
import * as D from './d'
import E, { F } from "./e"
import "./side-effect"
export { G } from "./g"
export * from "./h"
export * as I from "./i"
export type { J } from "./j"
const k = await import("./k")
type L = import("./l").L
const m = require("./m")
export const from = "not an import"
// import { N } from "./n"
/* import { O } from "./o" */
const url = "https://example.com" // a comment
const P = "x"; import { Q } from "./q"
`
    const found = specifiers(text).map(({ specifier, type_only }) => (type_only ? `type ${specifier}` : specifier))
    expect(found.toSorted()).toEqual(
      [
        "./b",
        "./d",
        "./e",
        "./g",
        "./h",
        "./i",
        "./k",
        "./l",
        "./m",
        "./q",
        "./side-effect",
        "type ./a",
        "type ./j",
        "zod",
      ].toSorted(),
    )
  })

  test("tells the layers apart", () => {
    const LAYERS: Record<string, Layer> = {
      "pass-over/domain/run.ts": "domain",
      "pass-over/handoff/flow.ts": "handoff",
      "pass-over/service/port.ts": "service",
      "pass-over/store/read.ts": "store",
      "pass-over/index.ts": "root",
      "session/host.ts": "edge",
      "plugin.ts": "edge",
    }
    for (const [path, layer] of Object.entries(LAYERS)) expect(layerOf(path)).toBe(layer)
  })

  test("would catch every wrong arrow", () => {
    const wrong = (from: string, specifier: string, type_only = false) =>
      !allowed({ from, layer: layerOf(from), specifier, target: target(from, specifier), type_only })
    expect(wrong("pass-over/domain/a.ts", "../service/port", true)).toBe(true)
    expect(wrong("pass-over/domain/a.ts", "node:fs")).toBe(true)
    expect(wrong("pass-over/domain/a.ts", "zod")).toBe(false)
    expect(wrong("pass-over/handoff/a.ts", "../service/port", true)).toBe(true)
    expect(wrong("pass-over/handoff/a.ts", "../domain/id")).toBe(false)
    expect(wrong("pass-over/service/a.ts", "../store/read", true)).toBe(true)
    expect(wrong("pass-over/service/a.ts", "drizzle-orm")).toBe(true)
    expect(wrong("pass-over/service/a.ts", "../../session/host")).toBe(true)
    expect(wrong("pass-over/store/a.ts", "../service/port", true)).toBe(false)
    expect(wrong("pass-over/store/a.ts", "../service/port")).toBe(true)
    expect(wrong("pass-over/store/a.ts", "../service/engine", true)).toBe(true)
    expect(wrong("pass-over/store/a.ts", "drizzle-orm/bun-sqlite")).toBe(false)
    expect(wrong("pass-over/store/a.ts", "drizzle-orm-evil")).toBe(true)
    expect(wrong("pass-over/index.ts", "../plugin")).toBe(true)
    expect(wrong("plugin.ts", "./pass-over/store/open")).toBe(false)
  })
})
