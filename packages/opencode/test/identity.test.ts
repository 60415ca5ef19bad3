import { expect, test } from "bun:test"
import { headless } from "../src/identity"

// What opencode 1.18.33 makes of each, by the help that it shows.
test.each([
  ["run x", true],
  ["--log-level DEBUG run x", true],
  ["--log-level=DEBUG run x", true],
  ["--print-logs --pure run x", true],
  ["--no-replay run x", true],
  ["--format json run x", true],
  ["-m some/model --agent alice run x", true],
  ["--session run run x", true],
  ["", false],
  ["github run", true],
  ["--pure github run --event x", true],
  ["github install", false],
  ["--log-level DEBUG", false],
  ["--prompt run", false],
  ["--agent run serve", false],
  ["serve --port 4096", false],
  ["--continue run", false],
  ["--mini run", false],
  ["alice run", false],
  ["/home/ada/project run", false],
  [". run", false],
] as const)('nobody sits before "opencode %s": %p', (line, alone) => {
  const words = line.split(" ").filter(Boolean)
  // As a compiled program sees itself, and by its bare name.
  expect(headless(["bun", "/$bunfs/root/src/index.js", ...words])).toBe(alone)
  if (!line.startsWith("/")) expect(headless(["opencode", ...words])).toBe(alone)
})
