import { existsSync } from "node:fs"
import { Server, type IncomingMessage } from "node:http"

/**
 * An opencode plugin for the opencode under test: while the file that it is given exists, nobody's stop gets through to
 * a session, as on a host that has too much to do.
 */
export default {
  id: "slow-stop",
  server: async (_host: unknown, { while: file }: { while: string }) => {
    const emit = Server.prototype.emit
    Server.prototype.emit = function (event: string, ...rest: unknown[]) {
      const [request] = rest as [IncomingMessage | undefined]
      if (event !== "request" || !request?.url?.includes("/abort")) return emit.call(this, event, ...rest)
      const later = () => void (existsSync(file) ? setTimeout(later, 20) : emit.call(this, event, ...rest))
      later()
      return true
    }
    return {}
  },
}
