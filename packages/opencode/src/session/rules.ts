import type { PermissionRuleset } from "@opencode-ai/sdk/v2"
import type { Pass } from "../pass-over/domain/pass"

const deny = (permission: string) => ({ permission, pattern: "*", action: "deny" as const })
const allow = (permission: string) => ({ permission, pattern: "*", action: "allow" as const })

/** The rules that a child session starts with: its return is open, the native task is not, and its pair's limits hold. */
export function childRules(pass: Pass): PermissionRuleset {
  const { can_modify_files, can_run_tools } = pass.preference.values as {
    can_modify_files?: boolean
    can_run_tools?: boolean
  }
  // At the end of the chain every pass would be refused; what cannot be used is not shown.
  const last = pass.chain_depth + 1 >= pass.max_chain_depth
  return [
    ...(can_run_tools === false ? [deny("*")] : []),
    ...(can_modify_files === false ? [deny("edit")] : []),
    deny("task"),
    ...(last ? [deny("pass_over"), deny("pass_over_read")] : []),
    allow("pass_over_return"),
  ]
}
