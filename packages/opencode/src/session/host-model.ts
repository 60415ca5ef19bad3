type Named = { providerID: string; modelID: string; variant?: string | undefined }

export const modelName = ({ providerID, modelID, variant }: Named) =>
  `${providerID}/${modelID}${variant ? `#${variant}` : ""}`

/** "provider/model" or "provider/model#variant", as a call may name it. */
export function parseModel(model: string | null) {
  const [, providerID, modelID, variant] = /^([^/]+)\/([^#]+)(?:#(.+))?$/.exec(model ?? "") ?? []
  if (!providerID || !modelID) return {}
  return { model: { providerID, modelID }, ...(variant ? { variant } : {}) }
}
