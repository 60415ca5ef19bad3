import { z } from "zod"
import {
  AgentPairPreference,
  DefaultPreference,
  Settings,
  SubagentPreference,
  type Setting,
} from "../pass-over/domain/preference"
import { SETTING_TEXT } from "../pass-over/domain/setting-text"
import type { SettingInfo } from "./schema-preference"

type Shape = { type?: string; enum?: unknown[]; items?: { type?: string } }

function kindOf({ type, enum: options, items }: Shape): SettingInfo["kind"] {
  if (options) return "choice"
  if (type === "boolean") return "switch"
  if (type === "integer" || type === "number") return "number"
  if (type === "array" && items?.type === "string") return "lines"
  return type === "string" ? "text" : "json"
}

const LEVELS = { pair: AgentPairPreference, subagent: SubagentPreference, defaults: DefaultPreference }

/** What every setting is, told from its schema: how to edit it, where it may stand, and what it does. */
export const SETTINGS: SettingInfo[] = Object.entries(
  z.toJSONSchema(Settings, { unrepresentable: "any", io: "input" }).properties ?? {},
).map(([name, given]) => {
  const shape = given as Shape
  const setting = name as Setting
  return {
    setting,
    text: SETTING_TEXT[setting],
    kind: kindOf(shape),
    options: (shape.enum ?? []).map(String),
    levels: (["pair", "subagent", "defaults"] as const).filter((level) => name in LEVELS[level].shape),
  }
})
