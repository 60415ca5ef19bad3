/** Which of the things on show an event makes old. */
export function stale(event: string, data: string): string[] {
  if (event.startsWith("gate.")) return ["inbox", "audit", ...ofPass(data)]
  // The events of a run stand under its own id.
  if (event.startsWith("flow.")) return ["audit", "runs", ...ofRun(data)]
  // Tools are used all the time, and change nothing but the one pass.
  if (event === "pass.artifact" || event === "pass.attempt") return ofPass(data)
  if (event.startsWith("pass.")) return ["passes", "audit", "stats", "projects", ...ofPass(data)]
  return []
}

function ofPass(data: string): string[] {
  const id = /"pass_over_id":"([\w-]+)"/.exec(data)?.[1]
  return id === undefined ? [] : [`pass ${id}`]
}

function ofRun(data: string): string[] {
  const id = /"pass_over_id":"(run_\w+)"/.exec(data)?.[1]
  return id === undefined ? [] : [`run ${id}`]
}
