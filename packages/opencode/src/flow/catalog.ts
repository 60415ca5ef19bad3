import { fileName, readCatalog, type FlowCatalog, type FlowText } from "../pass-over/handoff/catalog"
import { flowTexts } from "../pass-over/store/flow-catalog"
import { SHIPPED_FLOWS } from "./shipped"

const shipped = Object.entries(SHIPPED_FLOWS).map(([name, text]) => ({ path: `(shipped)/${name}.yaml`, text }))

/** The flows that hold in a directory: ours, and in their place or beside them those of the project. */
export const catalogOf = (directory: string): FlowCatalog => readCatalog([...shipped, ...flowTexts(directory)])

/** The same as they would be with one file more, or with that file in the place of the one of its name. */
export const catalogWith = (directory: string, file: FlowText): FlowCatalog => {
  const others = flowTexts(directory).filter(({ path }) => fileName(path) !== fileName(file.path))
  return readCatalog([...shipped, ...others, file])
}
