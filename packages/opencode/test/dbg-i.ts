import { createModel, createSandbox } from "@pass-over/rehearsal"
import { openSync, readFileSync } from "node:fs"
import { plugin } from "./pass-over/support/opencode.ts"
const model = await createModel()
const variant = async (name: string, listen: boolean, standby: boolean, extra = 0) => {
  const box = await createSandbox({ model, plugins: [await plugin()], files: { "a.txt": "x" } })
  const port = 45321 + Math.floor(Math.random() * 1000)
  const f = openSync(box.root + "/log", "w")
  const child = Bun.spawn([box.binary, "serve", "--hostname", "127.0.0.1", "--port", String(port)], {
    cwd: box.project,
    env: {
      ...box.env,
      OPENCODE_SERVER_USERNAME: "opencode",
      OPENCODE_SERVER_PASSWORD: "abc",
      ...(standby ? { PASS_OVER_STANDBY: box.project } : {}),
    },
    stdio: ["ignore", f, f],
    detached: true,
  })
  const t = performance.now()
  while (listen && !readFileSync(box.root + "/log", "utf8").includes("listening")) await Bun.sleep(20)
  await Bun.sleep(extra)
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/agent?directory=${encodeURIComponent(box.project)}`, {
      headers: { authorization: `Basic ${Buffer.from("opencode:abc").toString("base64")}` },
      redirect: "error",
      signal: AbortSignal.timeout(2500),
    }).catch((e) => String(e))
    console.log(
      name,
      Math.round(performance.now() - t),
      typeof answer === "string" ? answer.slice(0, 30) : answer.status,
    )
    if (typeof answer !== "string" || performance.now() - t > 6000) {
      break
    }
    await Bun.sleep(100)
  }
  child.kill(9)
  await box.dispose()
}
await variant("listening", true, true)
await variant("listening, 300 more", true, true, 300)
await variant("listening, no standby", true, false)
model.stop()
process.exit(0)
