import { nearest } from "../pass-over/domain/nearest"
import type { Client } from "./client"

type Named = { providerID: string; modelID: string; variant?: string | undefined }

export const modelName = ({ providerID, modelID, variant }: Named) =>
  `${providerID}/${modelID}${variant ? `#${variant}` : ""}`

type Parsed = { model?: { providerID: string; modelID: string }; variant?: string }

/** "provider/model" or "provider/model#variant", as a call may name it. */
export function parseModel(model: string | null): Parsed {
  const [, providerID, modelID, variant] = /^([^/]+)\/([^#]+)(?:#(.+))?$/.exec(model ?? "") ?? []
  if (!providerID || !modelID) return {}
  return { model: { providerID, modelID }, ...(variant ? { variant } : {}) }
}

/** The same as a session has it: one that has its model already is not written once more with its first prompt. */
export function sessionModel(name: string | null) {
  const { model, variant } = parseModel(name)
  if (!model) return {}
  return { model: { id: model.modelID, providerID: model.providerID, ...(variant ? { variant } : {}) } }
}

/** opencode says of a model that it does not have only that something went wrong. */
export async function unknownModel(client: Client, given: string | null): Promise<string | undefined> {
  const { model } = parseModel(given)
  if (!model) return undefined
  const { data } = await client.config.providers().catch(() => ({ data: undefined }))
  if (!data) return undefined
  const known = data.providers.flatMap(({ id, models }) => Object.keys(models).map((name) => `${id}/${name}`))
  const name = modelName(model)
  if (known.includes(name)) return undefined
  const near = nearest(name, known)
  return `opencode has no model ${name}${near ? `; did you mean ${near}?` : "; opencode models lists those that it has"}`
}
