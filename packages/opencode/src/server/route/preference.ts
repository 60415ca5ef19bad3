import { Hono } from "hono"
import { isDeepEqual } from "remeda"
import type { z } from "zod"
import type { PreferenceEdit, PreferenceKey } from "../../pass-over/domain/preference-edit"
import { dropPreference, explainAll, explainPair, preview, savePreference } from "../../pass-over/service/preference"
import type { Env, ServerDeps } from "../deps"
import { answers, reads } from "../describe"
import { refused } from "../failure"
import { sceneOf } from "../scene"
import * as Schema from "../schema-preference"
import { SETTINGS } from "../settings"

type Edited = z.infer<typeof Schema.Edited>

const pairOf = (pair: string): PreferenceKey => {
  const [from = "", to = ""] = pair.split("->")
  return { level: "pair", from, to }
}

async function matrix(deps: ServerDeps, directory: string): Promise<z.infer<typeof Schema.Matrix>> {
  const scene = await sceneOf(deps, directory)
  const [pairs, stored] = await Promise.all([
    explainAll(deps.engine, scene),
    deps.engine.store.listPreferences(directory),
  ])
  return { directory, pairs, settings: SETTINGS, stored, problem: scene.problem }
}

/** Shows what an edit changes and, where it is meant, carries it out. */
async function edit(deps: ServerDeps, to: z.infer<typeof Schema.EditQuery>, wanted: PreferenceEdit): Promise<Edited> {
  const { directory, dry_run } = to
  const shown = await preview(deps.engine, await sceneOf(deps, directory), wanted)
  if (!shown.ok) throw refused(shown.refusal)
  if (dry_run) return { saved: false, changes: shown.changes }
  const saved = await savePreference(deps.engine, { directory, edit: wanted, actor: deps.user })
  if (!saved.ok) throw refused(saved.refusal)
  return { saved: true, changes: shown.changes }
}

/** What is stored under a key, without what the files say. */
async function group(
  deps: ServerDeps,
  directory: string,
  key: PreferenceKey,
): Promise<z.infer<typeof Schema.StoredGroup>> {
  const stored = await deps.engine.store.listPreferences(directory)
  const nothing = { key, settings: {}, created_at: null, updated_at: null, updated_by: null }
  return stored.find((one) => isDeepEqual(one.key, key)) ?? nothing
}

async function drop(deps: ServerDeps, to: z.infer<typeof Schema.EditQuery>, key: PreferenceKey): Promise<Edited> {
  const { directory, dry_run } = to
  const { settings } = await group(deps, directory, key)
  const set = Object.fromEntries(Object.keys(settings).map((name) => [name, null]))
  const shown = await preview(deps.engine, await sceneOf(deps, directory), { key, set })
  if (!shown.ok) throw refused(shown.refusal)
  if (dry_run) return { saved: false, changes: shown.changes }
  return { saved: await dropPreference(deps.engine, { directory, key }), changes: shown.changes }
}

const DEFAULTS: PreferenceKey = { level: "defaults" }
const subagentOf = (subagent: string): PreferenceKey => ({ level: "subagent", subagent })

const tag = "preferences"
const ALONE = "What is stored for the project, without its files. What holds is said by `/preferences/resolve`."
const WHAT = "What is stored for a project wins over its file and the user's. `dry_run` only says what would change."

function projectRoutes(deps: ServerDeps) {
  return new Hono<Env>()
    .get(
      "/preferences",
      answers({ id: "getPreferences", tag, summary: "Read what holds for every pair of a project" }, Schema.Matrix),
      reads("query", Schema.ProjectQuery),
      async (c) => c.json(await matrix(deps, c.req.valid("query").directory)),
    )
    .put(
      "/preferences",
      answers({ id: "editPreferences", tag, summary: "Store settings of any level", description: WHAT }, Schema.Edited),
      reads("query", Schema.EditQuery),
      reads("json", Schema.PreferenceEdit),
      async (c) => c.json(await edit(deps, c.req.valid("query"), c.req.valid("json"))),
    )
    .get(
      "/preferences/resolve",
      answers(
        { id: "resolvePreference", tag, summary: "Read what holds for one pair, each value with its source" },
        Schema.Explanation,
      ),
      reads("query", Schema.ResolveQuery),
      async (c) => {
        const { directory, from, to } = c.req.valid("query")
        return c.json(await explainPair(deps.engine, await sceneOf(deps, directory), from, to))
      },
    )
    .get(
      "/preferences/defaults",
      answers(
        { id: "getDefaults", tag, summary: "Read the stored defaults of a project", description: ALONE },
        Schema.StoredGroup,
      ),
      reads("query", Schema.ProjectQuery),
      async (c) => c.json(await group(deps, c.req.valid("query").directory, DEFAULTS)),
    )
    .put(
      "/preferences/defaults",
      answers({ id: "editDefaults", tag, summary: "Store defaults of a project", description: WHAT }, Schema.Edited),
      reads("query", Schema.EditQuery),
      reads("json", Schema.PreferenceGroup),
      async (c) => c.json(await edit(deps, c.req.valid("query"), { key: DEFAULTS, set: c.req.valid("json") })),
    )
}

function pairRoutes(deps: ServerDeps) {
  return new Hono<Env>()
    .get(
      "/preferences/pairs/:pair",
      answers(
        { id: "getPair", tag, summary: "Read what is stored for a pair", description: ALONE },
        Schema.StoredGroup,
      ),
      reads("param", Schema.PairParam),
      reads("query", Schema.ProjectQuery),
      async (c) => c.json(await group(deps, c.req.valid("query").directory, pairOf(c.req.valid("param").pair))),
    )
    .put(
      "/preferences/pairs/:pair",
      answers({ id: "editPair", tag, summary: "Store settings of a pair", description: WHAT }, Schema.Edited),
      reads("param", Schema.PairParam),
      reads("query", Schema.EditQuery),
      reads("json", Schema.PreferenceGroup),
      async (c) => {
        const key = pairOf(c.req.valid("param").pair)
        return c.json(await edit(deps, c.req.valid("query"), { key, set: c.req.valid("json") }))
      },
    )
    .delete(
      "/preferences/pairs/:pair",
      answers({ id: "dropPair", tag, summary: "Take away what is stored for a pair" }, Schema.Edited),
      reads("param", Schema.PairParam),
      reads("query", Schema.EditQuery),
      async (c) => c.json(await drop(deps, c.req.valid("query"), pairOf(c.req.valid("param").pair))),
    )
}

function subagentRoutes(deps: ServerDeps) {
  return new Hono<Env>()
    .get(
      "/preferences/subagents/:id",
      answers(
        { id: "getSubagent", tag, summary: "Read what is stored for a subagent", description: ALONE },
        Schema.StoredGroup,
      ),
      reads("param", Schema.SubagentParam),
      reads("query", Schema.ProjectQuery),
      async (c) => c.json(await group(deps, c.req.valid("query").directory, subagentOf(c.req.valid("param").id))),
    )
    .put(
      "/preferences/subagents/:id",
      answers({ id: "editSubagent", tag, summary: "Store settings of a subagent", description: WHAT }, Schema.Edited),
      reads("param", Schema.SubagentParam),
      reads("query", Schema.EditQuery),
      reads("json", Schema.PreferenceGroup),
      async (c) => {
        const key = subagentOf(c.req.valid("param").id)
        return c.json(await edit(deps, c.req.valid("query"), { key, set: c.req.valid("json") }))
      },
    )
    .delete(
      "/preferences/subagents/:id",
      answers({ id: "dropSubagent", tag, summary: "Take away what is stored for a subagent" }, Schema.Edited),
      reads("param", Schema.SubagentParam),
      reads("query", Schema.EditQuery),
      async (c) => c.json(await drop(deps, c.req.valid("query"), subagentOf(c.req.valid("param").id))),
    )
}

/** Who may pass what to whom: what holds, where it comes from, and what is stored for a project. */
export const preferenceRoutes = (deps: ServerDeps) =>
  new Hono<Env>().route("/", projectRoutes(deps)).route("/", pairRoutes(deps)).route("/", subagentRoutes(deps))
