import type { Hooks, PluginInput } from "@opencode-ai/plugin"
import type { Event } from "@opencode-ai/sdk/v2"
import { createPlugin } from "./plugin"

/** opencode loads this module; everything else begins in `plugin.ts`. */
export default {
  id: "opencode-pass-over",
  server: async (input: PluginInput): Promise<Hooks> => {
    const plugin = createPlugin(input)
    return {
      config: async (config) => plugin.config(config),
      event: async ({ event }) => plugin.event(event as unknown as Event),
      tool: plugin.tools,
      "tool.definition": async ({ toolID }, output) => plugin.define(toolID, output as { jsonSchema?: unknown }),
      "tool.execute.before": async (call, { args }) => plugin.hooks?.before(call, args),
      "tool.execute.after": async (call) => plugin.hooks?.after(call),
      "shell.env": async (input, output) => plugin.hooks?.shell(input, output),
      "experimental.session.compacting": async (input, output) => plugin.hooks?.compacting(input, output),
      "chat.message": async ({ sessionID, agent }, output) => plugin.message({ sessionID, agent }, output),
      dispose: async () => plugin.dispose(),
    }
  },
}
