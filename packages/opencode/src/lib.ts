/**
 * Pass Over for scripts and other plugins; docs/library.md shows it at work:
 *
 *     import { applyArtifacts, passOver } from "opencode-pass-over"
 *
 * It needs Bun, or opencode's own binary told to be one (`BUN_BE_BUN=1 opencode run script.ts`).
 */
export { applyArtifacts, passOver, returnFromPassOver, type PassOverOptions } from "./api"
export { AuditLog } from "./audit-log"
export {
  ChainValidator,
  Extract,
  HistorySelector,
  PassOver,
  PassOverError,
  PassOverErrorCode,
  userFacingErrorMessage,
} from "./core"
export type { FindingArtifact, WorkArtifact } from "./pass-over/domain/artifact"
export type { WorkContext } from "./pass-over/domain/context"
export type { WorkOutput } from "./pass-over/domain/output"
export { PassOverConfig } from "./preferences"
export type { Schema } from "./schema"
export { generateSummary, type SummaryOptions } from "./summary"
