/** Which of the things on show an event makes old. */
export function stale(event: string, data: string): string[] {
  if (event.startsWith("gate.")) return ["inbox", "audit", ...ofPass(data)]
  // The events of a run stand under its own id.
  if (event.startsWith("flow.")) return ["audit", "runs", ...ofRun(data)]
  // Words change nothing but the transcript; tools are used all the time, and change nothing but the one pass.
  if (event === "pass.said") return ofPass(data, ["transcript"])
  if (event === "pass.artifact") return ofPass(data, ["pass", "transcript"])
  if (event === "pass.attempt") return ofPass(data)
  if (event.startsWith("pass.")) return ["passes", "audit", "stats", "projects", ...ofPass(data)]
  return []
}

function ofPass(data: string, names: readonly string[] = ["pass"]): string[] {
  const id = /"pass_over_id":"([\w-]+)"/.exec(data)?.[1]
  return id === undefined ? [] : names.map((name) => `${name} ${id}`)
}

function ofRun(data: string): string[] {
  const id = /"pass_over_id":"(run_\w+)"/.exec(data)?.[1]
  return id === undefined ? [] : [`run ${id}`]
}
