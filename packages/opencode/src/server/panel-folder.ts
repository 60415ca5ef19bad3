import { existsSync } from "node:fs"
import { join } from "node:path"

/** Where the panel lies: beside the bundle when installed, in its own package in the repository. */
const PLACES = [join(import.meta.dir, "panel"), join(import.meta.dir, "../../../app/dist")]

export const panelFolder = () => PLACES.find((folder) => existsSync(join(folder, "index.html")))
