/** The gate before a commit: stops at the first thing that is wrong. */
import { join } from "node:path"
import { GATE } from "./gate"

const root = join(import.meta.dir, "..")
const UNIT = {
  name: "unit tests",
  command: [
    process.execPath,
    "test",
    "--only-failures",
    // What boots the real opencode or kills processes takes its time; it belongs to npm test.
    ...[
      "**/integration/**",
      "**/proof/**",
      "**/*kill.test.ts",
      "**/contention.test.ts",
      "**/node_modules/**",
      "packages/rehearsal/**",
      "packages/app/**",
      // The test of the sample project is meant to fail: its bug is what npm start is about.
      "docs/**",
    ].flatMap((pattern) => ["--path-ignore-patterns", pattern]),
  ],
}

for (const { name, command } of [...GATE, UNIT]) {
  const began = performance.now()
  const code = await Bun.spawn(command, { cwd: root, stdio: ["ignore", "inherit", "inherit"] }).exited
  if (code !== 0) {
    console.error(`${name}: failed`)
    process.exit(1)
  }
  console.log(`${name}: ok (${((performance.now() - began) / 1000).toFixed(1)} s)`)
}
