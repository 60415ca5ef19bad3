/** What a user says beside the plugin in opencode's list: ["opencode-pass-over", { "serve": true }]. */
export type PluginOption = { serve: boolean }

const KNOWN = '"serve", true or false: whether the API and the panel are there for as long as opencode is'

/** Read by hand, because opencode waits for it: what it takes to read schemas comes later. */
export function readOption(given: Readonly<Record<string, unknown>> = {}): PluginOption & { problem?: string } {
  const { serve = false, ...others } = given
  const [stranger] = Object.keys(others)
  if (stranger !== undefined)
    return {
      serve: false,
      problem: `The option "${stranger}" beside opencode-pass-over in the plugin list is unknown, so none of them counts. There is ${KNOWN}.`,
    }
  if (typeof serve === "boolean") return { serve }
  return {
    serve: false,
    problem: `The option "serve" of opencode-pass-over is ${JSON.stringify(serve)}. It is ${KNOWN}.`,
  }
}
