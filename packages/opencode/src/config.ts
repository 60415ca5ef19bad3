/**
 * Preferences, for scripts and other plugins:
 *
 *     import { PassOverConfig } from "opencode-pass-over/config"
 *
 *     const preferences = PassOverConfig.load(".opencode/pass-over.json")
 *     PassOverConfig.validate({ defaults: { timeout_ms: "30s" } }) // false
 *     PassOverConfig.resolvePreference("alice", "audit").timeout_ms
 *
 * `resolvePreference` goes by all that says something about the project that is the working directory: the environment,
 * what the panel has stored, the project's file and the user's, and the defaults of our agents. With a fourth argument it
 * goes by those sources alone (`PassOverConfig.written()` has them all). `load` throws a PassOverError with file, line
 * and column where a file is not in order; `parse` and `parseConfig` give everything that is wrong as values. `resolve`
 * and `explain` say where each value comes from and what it shadows.
 */
export {
  describeSource,
  resolve,
  type Resolved,
  type Source,
  type Sources,
  type Written,
} from "./pass-over/domain/config"
export { describeProblem, parse, type Parsed, type Problem } from "./pass-over/domain/config-check"
export { configSchema } from "./pass-over/domain/config-schema"
export { explain, type Explained, type Explanation } from "./pass-over/domain/explain"
export { PassOverPreferences } from "./pass-over/domain/preference"
export { PassOverConfig } from "./preferences"
export { parseConfig, type ConfigFile, type Fault } from "./pass-over/store/config-text"
