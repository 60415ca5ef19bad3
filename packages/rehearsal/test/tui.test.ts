import { expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { rehearse, say } from "../src/index"

setDefaultTimeout(30_000)

test("a prompt is typed, its answer is on the screen, and TUI plugins are loaded", async () => {
  const plugin = join(import.meta.dir, "fixture/tui.tsx")
  const agents = { build: say("Hello from the script") }
  await rehearse({ agents, tuiPlugins: [[plugin, { message: "Here I am" }]] }, async ({ model, box }) => {
    await using tui = await box.tui({ cols: 100, rows: 30 })
    await tui.waitFor("Here I am")
    await tui.waitFor(/Ask anything/)
    await tui.type("good morning")
    await tui.waitFor("good morning")
    await tui.send("Enter")
    const screen = await tui.waitFor("Hello from the script")
    expect(screen.split("\n").length).toBeLessThanOrEqual(31)
    const [request] = model.requests({ agent: "build" })
    expect(request?.user).toBe("good morning")
    while (!box.log().includes(request!.session)) await Bun.sleep(50)
    await expect(tui.waitFor("never shown", 50)).rejects.toThrow(/was not on the screen within 50 ms:\n[^]*Hello from/)
    await tui.stop()
    expect(await box.leftovers()).toEqual([])
  })
})
