import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { BASE, createTestServer, PORT, type TestServer } from "./support/server"
import { OPEN_ROUTES } from "../../src/server/app"
import { canonical } from "../../src/server/guard"
import { createPanelKeys, type PanelKeys } from "../../src/server/secret"

let server: TestServer

beforeAll(() => void (server = createTestServer()))
afterAll(() => server[Symbol.dispose]())

type Target = { method: string; path: string }

const ID = "019a0000-0000-7000-8000-000000000001"
const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH"]

const filled = (path: string) => path.replaceAll(/:\w+/g, ID)

/** Every route that the app knows, without the middleware that goes before all of them. */
const routes = (): Target[] => [
  ...new Map(
    server.app.routes
      .filter((route) => METHODS.includes(route.method))
      .map(({ method, path }) => [`${method} ${path}`, { method, path: filled(path) }]),
  ).values(),
]

const guarded = () => routes().filter(({ method, path }) => !OPEN_ROUTES.includes(`${method} ${path}`))

const init = ({ method }: Target, headers: Record<string, string | undefined> = {}) => ({
  method,
  headers,
  ...(method === "POST" || method === "PUT" ? { body: "{}" } : {}),
})

/** What a request may come to that was not let in. */
const kept = (status: number) => status >= 400 && status < 500

async function accepted(targets: Target[], headers: Record<string, string | undefined>) {
  const found: string[] = []
  for (const target of targets) {
    const answer = await server.ask(target.path, init(target, headers))
    await answer.body?.cancel()
    if (!kept(answer.status) || answer.status === 404) found.push(`${target.method} ${target.path} ${answer.status}`)
  }
  return found
}

const ANOTHER = "s".repeat(43)

const wrong = (secret: string, panels: PanelKeys) => ({
  missing: undefined,
  empty: "",
  "without a scheme": secret,
  "of another scheme": `Basic ${btoa(`user:${secret}`)}`,
  "cut short": `Bearer ${secret.slice(0, -1)}`,
  "with more at its end": `Bearer ${secret}x`,
  "in other letters": `Bearer ${secret.toLowerCase() === secret ? secret.toUpperCase() : secret.toLowerCase()}`,
  "of somebody else": `Bearer ${"A".repeat(43)}`,
  "that is a panel's, run out": `Bearer ${panels.make(Date.now() - 30 * 24 * 60 * 60 * 1000).key}`,
  "that is a panel's, made longer by hand": `Bearer ${panels.make(Date.now()).key.replace(/^\d+/, "99999999999999")}`,
  "that is a panel's, of a server that has stopped": `Bearer ${createPanelKeys(() => secret).make(Date.now()).key}`,
})

const HOSTS = [
  "evil.example",
  `evil.example:${PORT}`,
  "127.0.0.1",
  "localhost",
  `127.0.0.1:${PORT + 1}`,
  `127.0.0.1.evil.example:${PORT}`,
  `localhost.evil.example:${PORT}`,
  `0.0.0.0:${PORT}`,
  `127.1:${PORT}`,
  `2130706433:${PORT}`,
  `[::ffff:127.0.0.1]:${PORT}`,
  `localhost.:${PORT}`,
  `LOCALHOST:${PORT}`,
  "",
]

const ORIGINS = [
  "http://evil.example",
  "https://evil.example",
  "null",
  `http://localhost:${PORT + 1}`,
  `https://127.0.0.1:${PORT}`,
  `http://localhost:${PORT}`,
  `http://127.0.0.1:${PORT}.evil.example`,
  `http://127.0.0.1:${PORT}/`,
  "file://",
  "",
]

const TYPES = [
  undefined,
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "text/json",
  "application/json; charset=utf-16",
  "application/jsonp",
  "application/json, text/plain",
]

const spellings = (path: string) => [
  `/${path}`,
  `${path}/`,
  path.replace("/api/", "/api//"),
  path.replace("/api/", "/API/"),
  path.replace("/api/", "/%61pi/"),
  path.replace("/pass-over", "%2Fpass-over"),
  path.replace("/pass-over", "%2fpass-over"),
  path.replace("/pass-over", "/./pass-over"),
  path.replace("/pass-over", "/x/../pass-over"),
  path.replace("/pass-over", "/%2e/pass-over"),
  path.replace("/pass-over", String.raw`\pass-over`),
  `${path};x=1`,
  `${path}%00`,
  `${path}%20`,
]

describe("the routes", () => {
  test("are all here", () => {
    expect(routes().length).toBeGreaterThan(12)
    for (const open of OPEN_ROUTES) expect(routes().map(({ method, path }) => `${method} ${path}`)).toContain(open)
  })

  test("answer to nobody without the secret, but for those that are listed as open", async () => {
    const answers = await Promise.all(
      guarded().map(async (target) => {
        const answer = await server.ask(target.path, init(target, { authorization: undefined }))
        return { ...target, status: answer.status, body: await answer.json() }
      }),
    )
    expect(answers.filter((answer) => answer.status !== 401)).toEqual([])
    for (const { body } of answers) expect(body).toMatchObject({ error: { code: "UNAUTHENTICATED" } })
    for (const { path } of guarded())
      for (const method of ["PATCH", "OPTIONS"]) {
        const answer = await server.ask(path, { method, headers: { authorization: undefined } })
        expect({ path, method, status: answer.status }).toEqual({ path, method, status: 401 })
      }
  })

  test("and open is only what proves or demands something of its own", async () => {
    const given = await Promise.all(
      OPEN_ROUTES.map(async (route) => {
        const [method = "", path = ""] = route.split(" ")
        const answer = await server.ask(path, { method, body: "{}", headers: { authorization: undefined } })
        return answer.status
      }),
    )
    expect(given).toEqual([400, 400])
  })
})

describe("a secret", () => {
  for (const [name, header] of Object.entries(
    wrong(
      ANOTHER,
      createPanelKeys(() => ANOTHER),
    ),
  )) {
    test(`${name} opens no route`, async () => {
      const real = Object.entries(wrong(server.deps.secret.read(), server.deps.panels)).find(
        ([key]) => key === name,
      )?.[1]
      expect(await accepted(guarded(), { authorization: header })).toEqual([])
      expect(await accepted(guarded(), { authorization: real })).toEqual([])
    })
  }

  test("that was rotated opens no route any more, and neither does a panel that was opened with it", async () => {
    const old = server.deps.secret.read()
    const { key } = server.deps.panels.make(Date.now())
    expect((await server.ask(`${BASE}/health`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200)
    server.deps.secret.rotate()
    expect(await accepted(guarded(), { authorization: `Bearer ${old}` })).toEqual([])
    expect(await accepted(guarded(), { authorization: `Bearer ${key}` })).toEqual([])
    expect((await server.ask(`${BASE}/health`)).status).toBe(200)
  })
})

// With the right secret each of these would be let in, so that what keeps them out is the check and nothing else.
describe("with the right secret", () => {
  for (const host of HOSTS) {
    test(`host "${host}" is not let in anywhere`, async () => {
      expect(await accepted(routes(), { host })).toEqual([])
    })
  }

  for (const origin of ORIGINS) {
    test(`origin "${origin}" is not let in anywhere`, async () => {
      expect(await accepted(routes(), { origin })).toEqual([])
    })
  }

  for (const site of ["cross-site", "same-site", "x"]) {
    test(`a page of ${site} is not let in anywhere`, async () => {
      expect(await accepted(routes(), { "sec-fetch-site": site })).toEqual([])
    })
  }

  for (const type of TYPES) {
    test(`content type "${type}" is not read anywhere`, async () => {
      const bodied = routes().filter(({ method }) => method === "POST" || method === "PUT")
      expect(bodied.length).toBeGreaterThan(3)
      expect(await accepted(bodied, { "content-type": type })).toEqual([])
    })
  }

  for (const method of ["PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"]) {
    test(`method ${method} is answered nowhere`, async () => {
      for (const { path } of routes()) {
        // Not every method can be put into a Request: where the platform refuses it, nothing can come of it.
        const answer = await server.ask(path, { method }).catch(() => undefined)
        if (answer) expect({ path, method, status: answer.status }).toEqual({ path, method, status: 405 })
      }
    })
  }

  test("a method that a route does not have is refused with those that it has", async () => {
    const known = new Set(routes().map(({ method, path }) => `${method} ${path}`))
    for (const { path } of routes())
      for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH"]) {
        if (known.has(`${method} ${path}`)) continue
        const answer = await server.ask(path, init({ method, path }))
        const allow = answer.headers.get("allow")?.split(", ") ?? []
        expect({ path, method, status: answer.status }).toEqual({ path, method, status: 405 })
        expect(allow).not.toContain(method)
        expect(allow).toContain(routes().find((route) => route.path === path)?.method ?? "")
        expect(await answer.json()).toMatchObject({ error: { code: "METHOD_NOT_ALLOWED" } })
      }
    expect((await server.ask(`${BASE}/nothing/here`, { method: "DELETE" })).status).toBe(404)
  })
})

describe("another spelling of a path", () => {
  test("is let in nowhere, neither without the secret nor with it", async () => {
    let tried = 0
    const found: string[] = []
    for (const target of routes())
      for (const path of spellings(target.path))
        for (const authorization of [undefined, `Bearer ${server.deps.secret.read()}`]) {
          // Whoever speaks HTTP by hand can send any of these; a URL object would tidy some of them up first.
          const request = new Request(`http://127.0.0.1:${PORT}${target.path}`, {
            method: target.method,
            ...(target.method === "GET" ? {} : { body: "{}" }),
            headers: {
              host: `127.0.0.1:${PORT}`,
              ...(target.method === "POST" || target.method === "PUT" ? { "content-type": "application/json" } : {}),
              ...(authorization ? { authorization } : {}),
            },
          })
          Object.defineProperty(request, "url", { value: `http://127.0.0.1:${PORT}${path}` })
          const answer = await server.app.fetch(request)
          await answer.body?.cancel()
          tried += 1
          if (!kept(answer.status)) found.push(`${target.method} ${path} ${answer.status}`)
        }
    expect(tried).toBeGreaterThan(300)
    expect(found).toEqual([])
  })

  test("is told from the one that counts", () => {
    for (const path of ["/", "/api/pass-over", "/a/alice-%3Eaudit", "/a/%C3%A9", "/assets/index-B_x.js", "/a/*"]) {
      expect(canonical(path)).toBe(true)
    }
    for (const path of [
      "",
      "a",
      "//",
      "/a/",
      "/a//b",
      "/%61",
      "/a/..",
      "/.",
      "/%2e%2e",
      "/a%2Fb",
      "/%zz",
      "/%e9",
      "/a>b",
    ]) {
      expect(canonical(path)).toBe(false)
    }
  })
})

describe("the control", () => {
  test("would be let in by an app that checks nothing", async () => {
    const { apiRoutes } = await import("../../src/server/app")
    const bare = apiRoutes(server.deps)
    const answer = await bare.request("http://evil.example/health", {
      headers: { host: "evil.example", origin: "http://evil.example" },
    })
    expect(answer.status).toBe(200)
  })

  test("the right host, origin and secret are let in, under each of our names", async () => {
    for (const host of [`127.0.0.1:${PORT}`, `localhost:${PORT}`, `[::1]:${PORT}`]) {
      const answer = await server.ask(`${BASE}/health`, {
        headers: { host, origin: `http://${host}`, "sec-fetch-site": "same-origin" },
      })
      expect(answer.status).toBe(200)
    }
  })
})

describe("every answer", () => {
  test("forbids everything that comes from elsewhere", async () => {
    for (const path of [`${BASE}/health`, `${BASE}/nothing/here`, "/"]) {
      const { headers } = await server.ask(path)
      expect(headers.get("content-security-policy")).toStartWith("default-src 'none'; script-src 'self'")
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'")
      expect(headers.get("x-content-type-options")).toBe("nosniff")
      expect(headers.get("access-control-allow-origin")).toBeNull()
      expect(headers.get("set-cookie")).toBeNull()
    }
  })

  test("that is a refusal has the one shape", async () => {
    const answers = await Promise.all([
      server.ask(`${BASE}/nothing/here`),
      server.ask(`${BASE}/${ID}`),
      server.ask(`${BASE}?limit=0`),
      server.ask(`${BASE}/${ID}/message`, { method: "POST", body: "{" }),
      server.ask(`${BASE}/${ID}/message`, { method: "POST", body: "[]" }),
      server.ask(`${BASE}/${ID}/message`, { method: "POST", body: JSON.stringify({ text: "x".repeat(5_000_000) }) }),
    ])
    expect(answers.map((answer) => answer.status)).toEqual([404, 404, 400, 400, 400, 413])
    for (const answer of answers) {
      expect(await answer.json()).toMatchObject({ error: { code: expect.any(String), message: expect.any(String) } })
    }
  })
})
