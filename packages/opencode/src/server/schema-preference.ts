import { z } from "zod"
import { PairKey, Settings, type Setting } from "../pass-over/domain/preference"
import { spelled } from "./folder"
import { named, Word } from "./schema"

const Directory = z.string().min(1).max(4_096).describe("The folder of the project.").transform(spelled)
export const ProjectQuery = z.strictObject({ directory: Directory })
export const ResolveQuery = z.strictObject({ directory: Directory, from: Word, to: Word })
export const EditQuery = z.strictObject({
  directory: Directory,
  dry_run: z.stringbool().default(false).describe("Only say what would change."),
})

const Source = named(
  "Source",
  z.strictObject({
    layer: z.enum(["inline", "pair", "subagent", "defaults", "agent", "shipped", "system"]),
    origin: z.enum(["environment", "stored", "project", "global", "call", "product"]),
    path: z.string().optional(),
    key: z.array(z.string()),
  }),
)

export const Explanation = named(
  "Explanation",
  z.strictObject({
    from: z.string(),
    to: z.string(),
    settings: z.array(
      z.strictObject({
        setting: z.enum(Object.keys(Settings.shape) as [Setting, ...Setting[]]),
        value: z.unknown(),
        source: Source,
        where: z.string(),
        shadows: z.array(z.strictObject({ value: z.unknown(), source: Source, where: z.string() })),
      }),
    ),
    notes: z.array(z.string()),
  }),
)

const PreferenceKey = named(
  "PreferenceKey",
  z.discriminatedUnion("level", [
    z.strictObject({ level: z.literal("pair"), from: z.string().min(1), to: z.string().min(1) }),
    z.strictObject({ level: z.literal("subagent"), subagent: z.string().min(1) }),
    z.strictObject({ level: z.literal("defaults") }),
  ]),
)

export const PreferenceGroup = z
  .record(z.string(), z.unknown())
  .describe("Settings to store; null takes one away, so that the next layer decides about it again.")
export const PreferenceEdit = z.strictObject({ key: PreferenceKey, set: PreferenceGroup })

export const StoredGroup = named(
  "StoredGroup",
  z.strictObject({
    key: PreferenceKey,
    settings: z.record(z.string(), z.unknown()).describe("What is stored; nothing where the files decide."),
    created_at: z.number().nullable(),
    updated_at: z.number().nullable(),
    updated_by: z.string().nullable(),
  }),
)

export const PairParam = z.strictObject({ pair: PairKey })
export const SubagentParam = z.strictObject({ id: Word })

export const SettingInfo = named(
  "SettingInfo",
  z.strictObject({
    setting: z.enum(Object.keys(Settings.shape) as [Setting, ...Setting[]]),
    text: z.string(),
    kind: z.enum(["switch", "number", "choice", "lines", "text", "json"]),
    options: z.array(z.string()),
    levels: z.array(z.enum(["pair", "subagent", "defaults"])),
  }),
)
export type SettingInfo = z.infer<typeof SettingInfo>

export const Matrix = named(
  "Matrix",
  z.strictObject({
    directory: z.string(),
    pairs: z.array(Explanation),
    settings: z.array(SettingInfo).describe("Every setting that there is: how to edit it and where it may stand."),
    stored: z.array(
      z.strictObject({
        key: PreferenceKey,
        settings: z.record(z.string(), z.unknown()),
        created_at: z.number(),
        updated_at: z.number(),
        updated_by: z.string(),
      }),
    ),
    problem: z.string().nullable().describe("What is wrong with a file of this project; what it says is left out."),
  }),
)

export const Edited = named(
  "Edited",
  z.strictObject({
    saved: z.boolean(),
    changes: z.array(
      z.strictObject({
        from: z.string(),
        to: z.string(),
        setting: z.string(),
        before: z.unknown(),
        after: z.unknown(),
        where: z.string(),
      }),
    ),
  }),
)
