import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { EXIT, type ExitName } from "../../src/cli/exit"
import { parseConfig } from "../../src/pass-over/store/config-text"
import { DOCUMENTS } from "../../script/documents"
import { createHome } from "./support"

const root = join(import.meta.dir, "../../../..")
const read = (name: string) => readFileSync(join(root, "docs", name), "utf8")

const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map((found) => found[1] ?? "")

/** A line of a shell, as far as our documents go. */
const words = (line: string) =>
  [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, "$1$2"))

describe("the documents", () => {
  for (const [path, make] of Object.entries(DOCUMENTS)) {
    test(`say what the sources say: ${path}`, () => {
      expect(readFileSync(join(root, path), "utf8")).toBe(make())
    })
  }

  test("show preferences that load", () => {
    const shown = ["configuration.md", "../README.md"].flatMap((name) => blocks(read(name), "jsonc"))
    expect(shown.length).toBeGreaterThan(1)
    for (const text of shown) expect(parseConfig(text)).toMatchObject({ ok: true })
  })

  test.each(["configuration.md", "command-line.md", "../README.md"])(
    "name commands in %s that are understood",
    async (name) => {
      using home = createHome()
      const lines = blocks(read(name), "sh").flatMap((block) => block.trim().split("\n"))
      const ours = lines.filter((line) => line.startsWith("pass-over "))
      expect(ours.length).toBeGreaterThan(0)
      for (const line of ours) {
        const [, ...argv] = words(line.replace(/ [>|].*$/, ""))
        // With an unknown command or option, help is not what is shown.
        const { code, out } = await home.run(...argv, "--help")
        expect([line, code]).toEqual([line, EXIT.ok])
        expect(out).toContain("Examples:")
        // These stay, or start a process that does; test/server, run.test.ts and the real opencode have them.
        if (argv[0] === "serve" || argv[0] === "open" || argv[0] === "run") continue
        const ran = await home.run(...argv.filter((word) => word !== "…"))
        expect([line, ran.code === EXIT.usage]).toEqual([line, false])
        expect([line, ran.code === EXIT.unexpected]).toEqual([line, false])
      }
    },
  )

  test.each(["../README.md", "library.md"])("lead somewhere: %s", (name) => {
    const links = [...read(name).matchAll(/\]\(([^)#]+)/g)].map(([, to = ""]) => to)
    for (const to of links.filter((to) => !to.startsWith("http")))
      expect([to, existsSync(join(root, "docs", name, "..", to))]).toEqual([to, true])
  })

  test("name the line that installs it as opencode has it", () => {
    const [install, ...more] = blocks(read("../README.md"), "bash")
    expect([install?.trim(), more]).toEqual(["opencode plugin opencode-pass-over", []])
  })

  test("have every exit code", () => {
    for (const name of Object.keys(EXIT) as ExitName[])
      expect(read("command-line.md")).toMatch(new RegExp(`^\\| ${EXIT[name]} `, "m"))
  })
})
