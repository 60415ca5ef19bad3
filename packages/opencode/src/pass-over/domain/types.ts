/** The names of the guide, 1.1: `PassOver.Request`, `PassOver.WorkContext` and so on, each a schema and its type. */
export { PassOverRequest as Request } from "./request"
export { WorkContext, MessagePart } from "./context"
export { WorkOutput, PassOverMetadata as Metadata, SummaryRequest } from "./output"
export { WorkArtifact as Artifact } from "./artifact"
export { ReturnToContext } from "./return-context"
export { PassOverPreferences as Preferences, AgentPairPreference, SubagentPreference } from "./preference"
export { PassOverAuditEntry as AuditEntry } from "./audit-log"

export * as PassOver from "./types"
