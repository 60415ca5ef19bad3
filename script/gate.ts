/** What can be told without running anything, the fastest failure first. */
export const GATE: readonly { name: string; command: string[] }[] = [
  { name: "format", command: ["oxfmt", "--check"] },
  { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] },
  { name: "types of the scripts", command: ["tsc", "-p", "."] },
  { name: "types of the plugin", command: ["tsc", "-p", "packages/opencode"] },
  { name: "types of the rehearsal", command: ["tsc", "-p", "packages/rehearsal"] },
  { name: "types of the panel", command: ["tsc", "-p", "packages/app"] },
  { name: "types of the terminal", command: ["tsc", "-p", "packages/tui"] },
  { name: "generated files", command: [process.execPath, "script/generate.ts", "--check"] },
]
