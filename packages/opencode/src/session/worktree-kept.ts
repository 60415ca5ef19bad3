import { readFile, rm, writeFile } from "node:fs/promises"
import { z } from "zod"

/** What has to be known of a tree to tell what its child did there. It outlives the process that filled the tree. */
const Kept = z.object({
  /** The photograph that it was filled from. */
  base: z.string().regex(/^[0-9a-f]{40,64}$/),
  /** The photograph of it with the work of others on top that its child stands on. */
  onto: z
    .string()
    .regex(/^[0-9a-f]{40,64}$/)
    .optional(),
  linked: z.array(z.string()),
  can_modify_files: z.boolean(),
  /** What is to be told of how it was filled. */
  notes: z.array(z.string()),
})
export type Kept = z.infer<typeof Kept>

/** Beside the tree: inside, its child could write into it. */
export const keptPath = (root: string) => `${root}.json`

export const remember = (root: string, { base, onto, linked, can_modify_files, notes }: Kept) =>
  writeFile(keptPath(root), JSON.stringify({ base, onto, linked, can_modify_files, notes }))

/** Nothing where the process ended before its tree was filled: then no child has worked there. */
export async function recall(root: string): Promise<Kept | undefined> {
  try {
    return Kept.parse(JSON.parse(await readFile(keptPath(root), "utf8")))
  } catch {
    return undefined
  }
}

/** What an earlier child had is nothing to the next: until its own is known, nothing is. */
export const forget = (root: string) => rm(keptPath(root), { force: true })
