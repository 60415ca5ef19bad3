import { afterEach, describe, expect, test } from "bun:test"
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { folderOf, readAddress, writeAddress } from "../../src/server/address"
import { findServer, panelLink, reachServer } from "../../src/server/client"
import { openSecret, proof } from "../../src/server/secret"
import { serve, type ServeOptions } from "../../src/server/serve"

const open: (() => unknown)[] = []

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

function place() {
  const root = mkdtempSync(join(tmpdir(), "pass-over-serve-"))
  open.push(() => rmSync(root, { recursive: true, force: true }))
  const database = join(root, "pass-over.db")
  return { root, database, folder: folderOf(database) }
}

async function start(database: string, more: Partial<ServeOptions> = {}) {
  const served = await serve({ database, panel: undefined, version: "0.0.0-test", log: () => {}, ...more })
  if (served.ok) open.push(served.stop)
  return served
}

const started = async (...input: Parameters<typeof start>) => {
  const served = await start(...input)
  if (!served.ok) throw new Error(served.problem)
  return served
}

describe("the server", () => {
  test("listens on loopback alone and answers the secret in its file", async () => {
    const { database, folder } = place()
    const { url, port } = await started(database)
    expect(url).toBe(`http://127.0.0.1:${port}`)
    const found = await findServer(folder)
    const health = await found?.api.api["pass-over"].health.$get()
    expect(await health?.json()).toMatchObject({ ok: true, running: 0, database })
    expect((await fetch(`${url}/api/pass-over/health`)).status).toBe(401)
    if (process.platform !== "win32") {
      expect(statSync(join(folder, "secret")).mode & 0o777).toBe(0o600)
      expect(statSync(join(folder, "serve.json")).mode & 0o777).toBe(0o600)
    }
  })

  test("answers HEAD as it answers GET, without the body; a stream of events is not begun by it", async () => {
    const { root, database, folder } = place()
    writeFileSync(join(root, "index.html"), "<!doctype html>")
    const { url } = await started(database, { panel: root })
    const headers = { authorization: `Bearer ${openSecret(folder).read()}`, "accept-encoding": "identity" }
    const head = (path: string) => fetch(url + path, { method: "HEAD", headers })
    for (const path of ["/", "/api/pass-over/projects", "/api/pass-over/nothing/here"]) {
      const get = await fetch(url + path, { headers })
      const answer = await head(path)
      const { status } = answer
      expect({ path, status, body: await answer.text() }).toEqual({ path, status: get.status, body: "" })
      const told = ["content-type", "content-length"].map((name) => answer.headers.get(name))
      const length = String((await get.arrayBuffer()).byteLength)
      expect(told).toEqual([get.headers.get("content-type"), length])
    }
    expect((await head("/api/pass-over/events")).headers.get("content-type")).toBe("text/event-stream")
    expect(await (await fetch(`${url}/api/pass-over/health`, { headers })).json()).toMatchObject({ readers: 0 })
    expect((await fetch(`${url}/api/pass-over/health`, { method: "HEAD" })).status).toBe(401)
  })

  test("is one for each user", async () => {
    const { database } = place()
    await started(database)
    expect(await start(database)).toMatchObject({ ok: false, reason: "running" })
  })

  test("comes back on the port that it had, so that open panels find it", async () => {
    const { database } = place()
    const first = await started(database)
    await first.stop()
    expect((await started(database)).port).toBe(first.port)
  })

  test("takes another port where its own is somebody else's now", async () => {
    const { database, folder } = place()
    const squatter = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("mine") })
    open.push(() => squatter.stop(true))
    writeAddress(folder, { port: squatter.port ?? 0, pid: 1, version: "0" })
    expect((await started(database)).port).not.toBe(squatter.port)
  })

  test("goes when nobody has asked anything for a while", async () => {
    const { database } = place()
    const served = await started(database, { idle_ms: 50 })
    expect(await served.stopped).toBe("idle")
    expect(await start(database)).toMatchObject({ ok: true })
  })

  test("stays while somebody follows its events", async () => {
    const { database, folder } = place()
    const served = await started(database, { idle_ms: 50 })
    const secret = openSecret(folder).read()
    const leaving = new AbortController()
    await fetch(`${served.url}/api/pass-over/events`, {
      headers: { authorization: `Bearer ${secret}` },
      signal: leaving.signal,
    })
    const gone = served.stopped.then(() => "gone")
    expect(await Promise.race([gone, Bun.sleep(250).then(() => "here")])).toBe("here")
    leaving.abort()
    expect(await gone).toBe("gone")
  })

  test("that is killed leaves nothing in the way of the next", async () => {
    const { database } = place()
    const main = join(import.meta.dir, "../../src/cli/main.ts")
    const child = Bun.spawn([process.execPath, main, "serve"], {
      env: { ...process.env, PASS_OVER_DB: database },
      stdio: ["ignore", "pipe", "inherit"],
    })
    const reader = child.stdout.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toStartWith("http://127.0.0.1:")
    expect(await start(database)).toMatchObject({ ok: false, reason: "running" })
    child.kill("SIGKILL")
    await child.exited
    expect(await start(database)).toMatchObject({ ok: true })
  })
})

describe("a client", () => {
  test("does not send the secret to whoever else listens there", async () => {
    const { folder } = place()
    const secret = openSecret(folder).read()
    const seen: string[] = []
    const thief = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        seen.push(JSON.stringify([...request.headers]), await request.text())
        return Response.json({ proof: "x".repeat(43), version: "1" })
      },
    })
    open.push(() => thief.stop(true))
    writeAddress(folder, { port: thief.port ?? 0, pid: process.pid, version: "0" })
    expect(await findServer(folder)).toBeUndefined()
    expect(seen.length).toBeGreaterThan(0)
    expect(seen.join(" ")).not.toContain(secret)
  })

  test("is not taken in by an answer that the right server gave for its own port", async () => {
    const { database, folder } = place()
    const real = await started(database)
    const relay = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async (request) =>
        fetch(`${real.url}${new URL(request.url).pathname}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: await request.text(),
        }),
    })
    open.push(() => relay.stop(true))
    writeAddress(folder, { port: relay.port ?? 0, pid: process.pid, version: "0" })
    expect(await findServer(folder)).toBeUndefined()
    expect(proof("s", "n", 1)).not.toBe(proof("s", "n", 2))
  })

  test("starts the server where there is none, and finds it then", async () => {
    const { database, folder } = place()
    let starts = 0
    const begin = () => {
      starts += 1
      void started(database)
    }
    expect(await reachServer({ folder, start: begin })).toBeDefined()
    expect(await reachServer({ folder, start: begin })).toBeDefined()
    expect(starts).toBe(1)
    expect(readAddress(folder)?.pid).toBe(process.pid)
  })

  test("gets a link that opens the panel once", async () => {
    const { database, folder } = place()
    await started(database)
    const found = await findServer(folder)
    if (!found) throw new Error("not found")
    const link = await panelLink(found)
    const ticket = /#ticket=([\w-]+)$/.exec(link)?.[1]
    const redeem = () =>
      fetch(`${found.url}/api/pass-over/sign-in`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ticket }),
      })
    const first = await redeem()
    const { key } = (await first.json()) as { key: string }
    expect(
      (await fetch(`${found.url}/api/pass-over/health`, { headers: { authorization: `Bearer ${key}` } })).status,
    ).toBe(200)
    expect((await redeem()).status).toBe(401)
  })
})

describe("a panel's key", () => {
  async function signIn(folder: string) {
    const found = await findServer(folder)
    if (!found) throw new Error("not found")
    const ticket = /#ticket=([\w-]+)$/.exec(await panelLink(found))?.[1]
    const answer = await fetch(`${found.url}/api/pass-over/sign-in`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ticket }),
    })
    const { key } = (await answer.json()) as { key: string }
    return { url: found.url, key }
  }

  const status = async (url: string, key: string) => {
    const answer = await fetch(`${url}/api/pass-over/health`, { headers: { authorization: `Bearer ${key}` } })
    return answer.status
  }

  test("that somebody else collected at our port when we were gone opens nothing, at this port or another", async () => {
    const { database, folder } = place()
    const first = await started(database)
    const { url, key } = await signIn(folder)
    expect(await status(url, key)).toBe(200)
    await first.stop()
    const collected: (string | null)[] = []
    const stranger = Bun.serve({
      hostname: "127.0.0.1",
      port: first.port,
      fetch: (request) => (collected.push(request.headers.get("authorization")), new Response("{}")),
    })
    await status(url, key)
    expect(collected).toEqual([`Bearer ${key}`])
    // The next server finds its port taken.
    const second = await started(database)
    expect(second.port).not.toBe(first.port)
    expect(await status(second.url, key)).toBe(401)
    await second.stop()
    await stranger.stop(true)
    // And the one after that has it again.
    const third = await started(database, { port: first.port })
    expect(third.url).toBe(url)
    expect(await status(third.url, key)).toBe(401)
    expect(await status(third.url, (await signIn(folder)).key)).toBe(200)
  })
})

describe("the secret's file", () => {
  test("that somebody opened to others or emptied does not stay so", () => {
    const { folder } = place()
    const secret = openSecret(folder)
    const first = secret.read()
    expect(first.length).toBeGreaterThan(40)
    writeFileSync(join(folder, "secret"), "")
    expect(secret.read().length).toBeGreaterThan(40)
    expect(secret.read()).not.toBe(first)
    if (process.platform === "win32") return
    writeFileSync(join(folder, "secret"), "x".repeat(43))
    Bun.spawnSync(["chmod", "644", join(folder, "secret")])
    expect(secret.read()).toBe("x".repeat(43))
    expect(statSync(join(folder, "secret")).mode & 0o777).toBe(0o600)
    expect(existsSync(join(folder, `secret.${process.pid}.new`))).toBe(false)
  })
})
