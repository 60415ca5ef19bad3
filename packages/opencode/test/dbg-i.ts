import { createModel, createSandbox } from "@pass-over/rehearsal"
import { join } from "node:path"
import { createPackages } from "./pass-over/support/package"
const [packed] = await createPackages("0.1.0")
const model = await createModel()
const box = await createSandbox({ model, files: { "README.md": "x" } })
const child = Bun.spawn([box.binary, "plugin", `opencode-pass-over@file:${packed!.tarball}`], { cwd: box.project, env: box.env, stdio: ["ignore", "inherit", "inherit"] })
await child.exited
box.seed(join(box.project, ".opencode"))
const tui = await box.tui()
await tui.waitFor(/Ask anything/i).catch(() => {})
for (let i = 0; i < 4; i++) {
  await Bun.sleep(4000)
  await tui.type("/pass-over")
  await Bun.sleep(1000)
  const seen = await tui.capture()
  console.log(i, /Passes of this project/.test(seen), /Alice/.test(seen), /No matching/.test(seen))
  if (/Passes of this/.test(seen)) break
  await tui.send("C-u")
}
console.log(await Bun.$`grep -rhiE "plugin|tui" ${box.data}/opencode/log | grep -iE "error|warn|fail|tui" | cut -c1-400 | tail -20; cat .opencode/tui.json`.cwd(box.project).nothrow().text())
await tui.stop(); await box.dispose(); model.stop(); process.exit(0)
