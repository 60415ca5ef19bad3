import type { Host } from "../pass-over/service/port-host"

/** There is no opencode behind a command. What would need one is carried out by one that is open. */
export const host: Host = new Proxy({} as Host, {
  get: (_target, name) => () => Promise.reject(new Error(`the command line has no host for ${String(name)}`)),
})
