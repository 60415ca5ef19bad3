import { Hono } from "hono"
import { answers, reads } from "../describe"
import type { Env, ServerDeps } from "../deps"
import { HttpError } from "../failure"
import { proof } from "../secret"
import * as Schema from "../schema"

/** How a program finds out that we are who we say, and how a link opens the panel. */
export function doorRoutes(deps: ServerDeps) {
  const { engine } = deps
  return new Hono<Env>()
    .get(
      "/health",
      answers({ id: "getHealth", tag: "server", summary: "See that the server is well" }, Schema.Health),
      async (c) => {
        const [newest_event, open] = await Promise.all([
          engine.store.newest(),
          engine.store.list({ status: ["initial", "waiting_for_return"], limit: 1_000 }),
        ])
        return c.json({
          ok: true as const,
          version: deps.version,
          pid: process.pid,
          readers: deps.feed.readers,
          newest_event,
          running: open.length,
          database: deps.database,
        })
      },
    )
    .post(
      "/hello",
      answers(
        {
          id: "proveServer",
          tag: "server",
          summary: "Let the server prove that it knows the secret",
          description:
            "Answers a nonce with an HMAC-SHA256 under the secret, so that a client can be sure whom it talks to before it sends the secret.",
          open: true,
        },
        Schema.Proof,
      ),
      reads("json", Schema.Hello),
      (c) =>
        c.json({ proof: proof(deps.secret.read(), c.req.valid("json").nonce, deps.port()), version: deps.version }),
    )
    .post(
      "/tickets",
      answers(
        { id: "issueTicket", tag: "server", summary: "Get a ticket for a link that opens the panel once" },
        Schema.Ticket,
      ),
      (c) => c.json(deps.tickets.issue(engine.clock.now())),
    )
    .post(
      "/sign-in",
      answers(
        { id: "signIn", tag: "server", summary: "Exchange a ticket for a key of the panel", open: true },
        Schema.PanelKey,
      ),
      reads("json", Schema.SignIn),
      (c) => {
        const now = engine.clock.now()
        if (!deps.tickets.redeem(c.req.valid("json").ticket, now)) {
          throw new HttpError(
            "UNAUTHENTICATED",
            "This link was used already or is too old.",
            "Run `pass-over open` again.",
          )
        }
        return c.json(deps.panels.make(now))
      },
    )
}
