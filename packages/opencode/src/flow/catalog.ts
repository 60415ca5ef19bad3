import { basename, dirname, resolve } from "node:path"
import { fileName, readCatalog, type FlowCatalog, type FlowText } from "../pass-over/handoff/catalog"
import { flowFolder, flowTexts } from "../pass-over/store/flow-catalog"
import { SHIPPED_FLOWS } from "./shipped"

const shipped = Object.entries(SHIPPED_FLOWS).map(([name, text]) => ({ path: `(shipped)/${name}.yaml`, text }))

/** The flows that hold in a directory: ours, and in their place or beside them those of the project. */
export const catalogOf = (directory: string): FlowCatalog => readCatalog([...shipped, ...flowTexts(directory)])

/** The flows of a project besides one of its own files, named as that one is, so that another of its name is seen. */
const beside = (directory: string, file: string): FlowText[] =>
  flowTexts(directory)
    .filter(({ path }) => path !== resolve(file))
    .map(({ path, text }) => ({ path: `${file.slice(0, file.length - basename(file).length)}${basename(path)}`, text }))

/** The same as they would be with one file more, or with that file in the place of the one of its name. */
export const catalogWith = (directory: string, file: FlowText): FlowCatalog => {
  const own = dirname(resolve(file.path)) === flowFolder(directory)
  const others = own
    ? beside(directory, file.path)
    : flowTexts(directory).filter(({ path }) => fileName(path) !== fileName(file.path))
  return readCatalog([...shipped, ...others, file])
}
