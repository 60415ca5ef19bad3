/** The guide's names (3.1), gathered from where they are at home. */
export { load } from "./config-file"
export { resolvePreference, validate } from "../domain/config"

export * as PassOverConfig from "./config"
