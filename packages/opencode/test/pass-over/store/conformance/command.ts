import { describe, expect, test } from "bun:test"
import type { PassID } from "../../../../src/pass-over/domain/id"
import type { Command } from "../../../../src/pass-over/service/port"
import { createScene, type Scene, type Setup } from "./scene"

const commandOf = (scene: Scene, pass_over_id: PassID, kind: Command["kind"] = "message"): Command => ({
  command_id: scene.ids.make("cmd"),
  pass_over_id,
  kind,
  text: `${kind}, please`,
  actor: "ada",
})

const ordered = async (scene: Scene, pass_over_id: PassID, kind?: Command["kind"]) => {
  const command = commandOf(scene, pass_over_id, kind)
  await scene.store.command(command, scene.clock.now())
  return command
}

const answer = (scene: Scene, { command_id }: Command, status: "done" | "refused", result: string) =>
  scene.store.answer({ command_id, status, result, at: scene.clock.now() })

export function commandContract(setup: Setup) {
  describe("a command", () => {
    test("can be followed by whoever gave it", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const command = await ordered(scene, (await scene.running()).id)
      const { command_id } = command
      expect(await store.commandState(command_id)).toEqual({ ...command, status: "pending", result: null })
      await answer(scene, command, "done", "Said to audit.")
      expect(await store.commandState(command_id)).toEqual({ ...command, status: "done", result: "Said to audit." })
      expect(await store.commandState(scene.ids.make("cmd"))).toBeUndefined()
    })

    test("reaches the owner of its pass, in the order in which they were given, until it has its answer", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const [mine, another] = [await scene.running(), await scene.running()]
      const other = await scene.running({ owner_id: scene.ids.make("own") })
      const commands = [
        await ordered(scene, another.id, "message"),
        await ordered(scene, mine.id, "cancel"),
        await ordered(scene, mine.id, "return"),
      ]
      const theirs = await ordered(scene, other.id)
      expect(await store.commands(mine.owner_id)).toEqual(commands)
      expect(await store.commands(other.owner_id)).toEqual([theirs])
      expect(await store.commands(scene.ids.make("own"))).toEqual([])
      await answer(scene, commands[1]!, "refused", "It does not run any more.")
      expect(await store.commands(mine.owner_id)).toEqual([commands[0]!, commands[2]!])
    })

    test("goes with its pass to whoever takes that over", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.running()
      const command = await ordered(scene, pass.id)
      const owner_id = scene.ids.make("own")
      await store.claim({ from: pass.owner_id, owner_id, limit: 1 })
      expect(await store.commands(pass.owner_id)).toEqual([])
      expect(await store.commands(owner_id)).toEqual([command])
    })

    test("about what an originator is to be told is its project's, whoever ran the pass", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const [first, second] = [await scene.returned(), await scene.returned({ owner_id: scene.ids.make("own") })]
      const elsewhere = await scene.returned({ directory: "/elsewhere" })
      const told = [await ordered(scene, second.id, "tell"), await ordered(scene, first.id, "rework")]
      await ordered(scene, first.id, "cancel")
      await ordered(scene, elsewhere.id, "tell")
      expect(await store.tells("/project")).toEqual(told)
      expect(await store.tells("/elsewhere")).toHaveLength(1)
      expect(await store.tells("/nowhere")).toEqual([])
      expect((await store.commands(first.owner_id)).map(({ kind }) => kind)).toEqual(["cancel"])
      await answer(scene, told[0]!, "done", "alice was told.")
      expect(await store.tells("/project")).toEqual([told[1]!])
    })

    test("is answered once: the second is told so, and the first answer stands", async () => {
      await using scene = await createScene(setup)
      const command = await ordered(scene, (await scene.running()).id)
      expect(await answer(scene, command, "refused", "first")).toBe(true)
      expect(await answer(scene, command, "done", "second")).toBe(false)
      expect(await scene.store.commandState(command.command_id)).toMatchObject({ status: "refused", result: "first" })
      expect(await answer(scene, commandOf(scene, command.pass_over_id), "done", "never given")).toBe(false)
    })

    test("to a pass that nobody knows is refused, and leaves nothing behind", async () => {
      await using scene = await createScene(setup)
      const command = commandOf(scene, scene.ids.pass())
      await expect(scene.store.command(command, scene.clock.now())).rejects.toThrow()
      expect(await scene.store.commandState(command.command_id)).toBeUndefined()
    })

    test("is given once: another of its name changes nothing", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.running()
      const command = await ordered(scene, pass.id)
      await expect(store.command({ ...command, text: "another" }, scene.clock.now())).rejects.toThrow()
      expect(await store.commands(pass.owner_id)).toEqual([command])
    })
  })
}
