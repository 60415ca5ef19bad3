/** "1 line", "3 lines". */
export const plural = (count: number, one: string) => `${count} ${one}${count === 1 ? "" : "s"}`
