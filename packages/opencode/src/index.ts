import type { Hooks, PluginInput, PluginOptions } from "@opencode-ai/plugin"
import type { Event } from "@opencode-ai/sdk/v2"
import { fileURLToPath } from "node:url"
import { createAgentShells } from "./agent-shell"
import { createDoor, tell } from "./door"
import { takeSeat } from "./seat"

/** opencode loads this module; everything else begins behind `door.ts`. */
export default {
  id: "opencode-pass-over",
  server: async (input: PluginInput, option?: PluginOptions): Promise<Hooks> => {
    const seat = takeSeat(input.directory, import.meta.url)
    if ("taken" in seat) {
      tell(
        input,
        `Pass Over is loaded twice, and works once: take one out of opencode's lists of plugins. Left alone: ${fileURLToPath(import.meta.url)}; at work: ${fileURLToPath(seat.taken)}.`,
      )
      return {}
    }
    const door = createDoor(input, { option })
    const shells = createAgentShells()
    return {
      config: async (config) => door.config(config),
      event: async ({ event }) => door.event(event as unknown as Event),
      tool: door.tools,
      "tool.definition": async ({ toolID }, output) => door.define(toolID, output as { jsonSchema?: unknown }),
      "tool.execute.before": async (call, { args }) => {
        shells.begins(call)
        const other = await (await door.hooks())?.before(call, args)
        // opencode reads these very arguments afterwards.
        if (other) Object.assign(args, other)
      },
      "tool.execute.after": async (call, output) => {
        const told = await (await door.hooks())?.after(call, output)
        // What opencode takes from here is what its agent reads.
        if (told !== undefined) output.output = told
      },
      "shell.env": async (input, output) => {
        shells.mark(input, output.env)
        Object.assign(output.env, await (await door.hooks())?.shell(input, output.env))
      },
      "experimental.session.compacting": async (input, output) => {
        output.context.push(...((await (await door.hooks())?.compacting(input)) ?? []))
      },
      "chat.params": async ({ sessionID }) => door.hold(sessionID),
      "chat.message": async ({ sessionID, agent }, output) => door.message({ sessionID, agent }, output),
      dispose: async () => {
        seat.leave()
        await door.dispose()
      },
    }
  },
}
