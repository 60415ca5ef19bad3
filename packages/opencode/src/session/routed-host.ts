import type { Host } from "../pass-over/service/port-host"

/**
 * A host whose children may work in other directories. opencode keeps an instance for each directory, and only that one
 * can run, stop or question a session of its own.
 */
export function createRoutedHost(main: Host, hostAt: (directory: string) => Host): Host {
  const placed = new Map<string, Host>()
  const at = (session_id: string) => placed.get(session_id) ?? main
  return {
    ...main,
    child: async (spec) => {
      if (spec.directory === undefined) return main.child(spec)
      const host = hostAt(spec.directory)
      const session_id = await host.child(spec)
      placed.set(session_id, host)
      return session_id
    },
    resume: async (spec) => {
      const host = spec.directory === undefined ? main : hostAt(spec.directory)
      await host.resume(spec)
      if (host !== main) placed.set(spec.session_id, host)
    },
    messages: (session_id) => at(session_id).messages(session_id),
    todos: (session_id) => at(session_id).todos(session_id),
    prompt: (input) => at(input.session_id).prompt(input),
    stop: (session_id) => at(session_id).stop(session_id),
    onlyReturn: (session_id) => at(session_id).onlyReturn(session_id),
    say: (session_id, text, pass) => at(session_id).say(session_id, text, pass),
    dismiss: (session_id, permission) => at(session_id).dismiss(session_id, permission),
    deliver: (message) => at(message.session_id).deliver(message),
    // The last that is heard of a child: its place is not needed any more.
    close: async (session_id, text, metadata) => {
      await at(session_id).close(session_id, text, metadata)
      placed.delete(session_id)
    },
  }
}
