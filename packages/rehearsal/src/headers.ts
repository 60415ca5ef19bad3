/**
 * An opencode plugin, loaded by the opencode under test and not by the rehearsal: it writes on every request to the
 * model which agent and which session it comes from. The shapes are our own, so that nothing has to be installed.
 */
type Host = { client: { session: { get(input: { path: { id: string } }): Promise<{ data?: { parentID?: string } }> } } }
type HostEvent = { type: string; properties: { info?: { id?: string; parentID?: string } } }

const OWNER_CHECK_MS = 1_000

export default {
  id: "rehearsal-headers",
  server: async (host: Host, options: { owner?: number } = {}) => {
    if (options.owner !== undefined) followOwner(options.owner)
    const parents = new Map<string, Promise<string | undefined>>()

    const parentOf = (session: string) => {
      const known = parents.get(session)
      if (known) return known
      // Only a session from before a restart comes here; the others were announced by an event.
      const asked = host.client.session.get({ path: { id: session } }).then((answer) => answer.data?.parentID)
      parents.set(session, asked)
      return asked
    }

    return {
      event: async ({ event }: { event: HostEvent }) => {
        const { info } = event.properties
        if (event.type === "session.created" && info?.id) parents.set(info.id, Promise.resolve(info.parentID))
      },
      "chat.headers": async (
        input: { sessionID: string; agent: string },
        output: { headers: Record<string, string> },
      ) => {
        const parent = await parentOf(input.sessionID)
        output.headers["x-rehearsal-agent"] = encodeURIComponent(input.agent)
        output.headers["x-rehearsal-session"] = encodeURIComponent(input.sessionID)
        if (parent) output.headers["x-rehearsal-parent"] = encodeURIComponent(parent)
      },
    }
  },
}

// A test run that was killed cannot dispose of its sandboxes, so each opencode looks after itself.
function followOwner(owner: number) {
  const timer = setInterval(() => {
    try {
      process.kill(owner, 0)
    } catch {
      // Not process.exit: in the TUI this runs in a worker, which would be all that ends.
      process.kill(process.pid, "SIGKILL")
    }
  }, OWNER_CHECK_MS)
  timer.unref()
}
