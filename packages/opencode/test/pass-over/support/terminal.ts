import { afterAll, beforeAll, expect } from "bun:test"
import { dirname, join } from "node:path"
import {
  createModel,
  createSandbox,
  say,
  type Model,
  type ModelRequest,
  type Sandbox,
  type SandboxOptions,
  type Tui,
} from "@pass-over/rehearsal"
import { plugin } from "./opencode"

/** opencode's own terminal interface with both halves of the plugin, for all the tests of a file. */
export function holdTerminal(options: Pick<SandboxOptions, "files" | "config">) {
  const held = {} as { model: Model; box: Sandbox }
  beforeAll(async () => {
    const server = await plugin()
    held.model = await createModel()
    const tuiPlugins = [join(dirname(server), "tui.js")]
    held.box = await createSandbox({ model: held.model, plugins: [server], tuiPlugins, ...options })
  })
  afterAll(async () => {
    expect(await held.box.dispose()).toEqual([])
    held.model.stop()
  })
  return held
}

export type Size = { cols: number; rows: number }

/** A terminal of that size, in which one talks to alice. */
export async function terminal({ box }: { box: Sandbox }, size: Size, env: Record<string, string> = {}): Promise<Tui> {
  const tui = await box.tui({ ...size, env, args: ["--agent", "alice"] })
  await tui.waitFor("Alice")
  return tui
}

/** Types a slash command and takes what the interface offers for it. */
export async function command(tui: Tui, name: string, title: string) {
  await tui.type(name)
  await tui.waitFor(title)
  await tui.send("Enter")
}

export async function ask(tui: Tui, text: string) {
  await tui.type(text)
  await tui.waitFor(text)
  await tui.send("Enter")
}

/** What alice says of a result: its first line. */
export const heard = (request: ModelRequest) =>
  say(`Heard: ${request.result("pass_over")?.split("\n")[0] ?? "nothing"}`)
