/** Our tools whose calls show how it goes, and whose answers carry results. */
export const OURS: readonly string[] = ["pass_over", "flow"]
