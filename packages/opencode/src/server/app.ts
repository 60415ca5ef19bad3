import { Hono, type Context } from "hono"
import { bodyLimit } from "hono/body-limit"
import type { Env, ServerDeps } from "./deps"
import { HttpError, respond } from "./failure"
import { admit } from "./guard"
import { documented } from "./openapi"
import type { Panel } from "./panel"
import { changeRoutes } from "./route/change"
import { doorRoutes } from "./route/door"
import { eventRoutes } from "./route/event"
import { flowRoutes } from "./route/flow"
import { inboxRoutes } from "./route/inbox"
import { passRoutes } from "./route/pass"
import { preferenceRoutes } from "./route/preference"
import { recordRoutes } from "./route/record"
import { startRoutes } from "./route/start"
import { transcriptRoutes } from "./route/transcript"

export const BASE = "/api/pass-over"

const MOST_BYTES = 4 * 1024 * 1024

/** Routes that answer without the secret: they hand out what is public, or prove and demand something of their own. */
export const OPEN_ROUTES = [`POST ${BASE}/hello`, `POST ${BASE}/sign-in`]

// Nothing from elsewhere, nothing inline, in nobody's frame.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ")

const HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}

/** All routes under their base; what the panel and other programs are typed by. Literal paths come before `/:id`. */
export function apiRoutes(deps: ServerDeps) {
  return new Hono<Env>()
    .route("/", doorRoutes(deps))
    .route("/", recordRoutes(deps))
    .route("/", eventRoutes(deps))
    .route("/", inboxRoutes(deps))
    .route("/", flowRoutes(deps))
    .route("/", changeRoutes(deps))
    .route("/", preferenceRoutes(deps))
    .route("/", startRoutes(deps))
    .route("/", passRoutes(deps))
    .route("/", transcriptRoutes(deps))
}

/** The client's type: `hc<Routes>(url)`. */
export type Routes = ReturnType<typeof routed>
const routed = (deps: ServerDeps) => new Hono<Env>().route(BASE, apiRoutes(deps))

/**
 * What a path answers to; nothing where there is nothing at it. The panel's `*` takes every path and is none itself, and
 * a path that is written out is no id: `/starts` is not the pass "starts".
 */
function methodsAt({ router }: Hono<Env>, path: string): string[] {
  const answered = ["GET", "POST", "PUT", "DELETE"].flatMap((method) =>
    router.match(method, path)[0].flatMap(([[, route]]) => (route.method === method ? [route] : [])),
  )
  const literal = answered.filter((route) => route.path === path)
  const routes = literal.length > 0 ? literal : answered.filter((route) => route.path !== "/*")
  return [...new Set(routes.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])))]
}

function nothing(app: Hono<Env>, c: Context<Env>, panel: Panel | undefined) {
  const methods = panel?.file(c.req.path) ? ["GET", "HEAD"] : methodsAt(app, c.req.path)
  if (methods.length === 0) return respond(c, new HttpError("NO_SUCH_ROUTE", "There is nothing at this path."))
  c.header("allow", methods.join(", "))
  return respond(c, new HttpError("METHOD_NOT_ALLOWED", `This path does not answer ${c.req.method}.`))
}

export function createApp(deps: ServerDeps, panel?: Panel) {
  const open = (method: string, path: string) =>
    OPEN_ROUTES.includes(`${method} ${path}`) || (method === "GET" && panel?.file(path) !== undefined)
  const rules = { port: deps.port, secret: deps.secret.read, panels: deps.panels, now: deps.engine.clock.now, open }
  const app = new Hono<Env>({ strict: true })
  app.onError((error, c) => {
    const answer = respond(c, error)
    if (answer.status === 500) {
      deps.engine.log("error", "a request failed", { path: c.req.path, error: error.stack ?? String(error) })
    }
    return answer
  })
  app.notFound((c) => nothing(app, c, panel))
  app.use("*", async (c, next) => {
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value)
    c.header("cache-control", "no-store")
    c.set("who", admit(c.req.raw, rules))
    await next()
  })
  app.use(
    "*",
    bodyLimit({
      maxSize: MOST_BYTES,
      onError: () => {
        throw new HttpError("TOO_LARGE", `A request may hold ${MOST_BYTES} bytes at most.`)
      },
    }),
  )
  app.use(`${BASE}/*`, async (c, next) => {
    const methods = methodsAt(app, c.req.path)
    const answered = methods.length === 0 || methods.includes(c.req.method)
    return answered ? next() : nothing(app, c, panel)
  })
  documented(app, deps, BASE)
  app.route(BASE, apiRoutes(deps))
  if (panel) app.get("*", panel.serve)
  return app
}
