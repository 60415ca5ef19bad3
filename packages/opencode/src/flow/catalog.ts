import { readCatalog, type FlowCatalog } from "../pass-over/handoff/catalog"
import { flowTexts } from "../pass-over/store/flow-catalog"
import { SHIPPED_FLOWS } from "./shipped"

const shipped = Object.entries(SHIPPED_FLOWS).map(([name, text]) => ({ path: `(shipped)/${name}.yaml`, text }))

/** The flows that hold in a directory: ours, and in their place or beside them those of the project. */
export const catalogOf = (directory: string): FlowCatalog => readCatalog([...shipped, ...flowTexts(directory)])
