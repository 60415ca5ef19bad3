import { oneLine } from "../clean"
import type { Command } from "../command"
import { examine } from "../doctor"
import type { Finding } from "../doctor/finding"
import { EXIT } from "../exit"

const STYLE = { ok: "green", warn: "yellow", fail: "red" } as const satisfies Record<Finding["state"], string>

export const doctor: Command = {
  name: "doctor",
  summary: "look whether everything is in place, and say what to do where it is not",
  examples: ["pass-over doctor", "pass-over doctor --json"],
  run: async ({ out, directory, env, now }) => {
    const findings = await out.progress("Looking …", (tell) => examine({ directory, env, now: now() }, tell))
    const failed = findings.some((finding) => finding.state === "fail")
    if (out.json) {
      out.value({ healthy: !failed, findings })
      return failed ? EXIT.failed : EXIT.ok
    }
    for (const { name, state, said, advice } of findings) {
      out.line(`${out.paint(STYLE[state], state.padEnd(4))}  ${name.padEnd(17)} ${oneLine(said)}`)
      if (advice) out.line(`${" ".repeat(24)}→ ${oneLine(advice)}`)
    }
    return failed ? EXIT.failed : EXIT.ok
  },
}
