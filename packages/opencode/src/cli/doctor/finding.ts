export type Finding = {
  name: string
  state: "ok" | "warn" | "fail"
  /** What was found. */
  said: string
  /** What to do about it. */
  advice?: string
}

export type Scene = { directory: string; env: Readonly<Record<string, string | undefined>>; now: number }

export type Check = (scene: Scene) => Finding[] | Promise<Finding[]>

export const ok = (name: string, said: string): Finding => ({ name, state: "ok", said })
export const warn = (name: string, said: string, advice: string): Finding => ({ name, state: "warn", said, advice })
export const fail = (name: string, said: string, advice: string): Finding => ({ name, state: "fail", said, advice })
