import { resolveAudit } from "../../pass-over/domain/config"
import { keptFrom } from "../../pass-over/domain/retention"
import { LEFT_OVER_MS } from "../../pass-over/service/change/prune"
import type { Engine } from "../../pass-over/service/engine"
import type { UpTo } from "../../pass-over/service/port-retention"
import { forgetPasses } from "../../pass-over/service/retention"
import { auditedIn, printFaults, withAudit } from "../audit"
import { count, type Invocation } from "../command"
import { withEngine } from "../engine"
import { EXIT } from "../exit"
import { readConfig } from "../place"
import { plural } from "../words"

type Over = { directory: string; before: number; contents_before: number }

/** Passes, runs and contents of files that are over, without those whose audit lines stay. */
async function forget(engine: Engine, { directory, before, contents_before }: Over) {
  const forgotten = await forgetPasses(engine, { directory, before })
  return { ...forgotten, contents: await engine.store.pruneBlobs(contents_before) }
}

/** How many that would be, once these audit lines are gone. */
async function foresee({ store }: Engine, { directory, before, contents_before }: Over, gone: readonly UpTo[]) {
  const without = await store.outdated({ directory, before, gone })
  const runs = await store.outdatedRuns({ directory, before, without })
  return {
    passes: without.length,
    runs: runs.length,
    contents: await store.leftBlobs({ before: contents_before, without }),
  }
}

export async function runPrune({ out, directory: from, options, now }: Invocation) {
  const directory = await auditedIn(from)
  const { retention_days: kept } = resolveAudit(readConfig(directory))
  const days = count(options, "days", kept)
  const dry = options.dryRun === true
  const over = { directory, before: keptFrom(now(), days), contents_before: now() - LEFT_OVER_MS }
  const {
    gone,
    left: _left,
    ...pruned
  } = await withAudit(directory, (audit) =>
    out.progress(`${dry ? "Looking for" : "Removing"} what is older than ${plural(days, "day")} …`, () =>
      audit.prune({ retention_days: days, now: now(), dry }),
    ),
  )
  const forgotten = await withEngine((engine) => (dry ? foresee(engine, over, gone) : forget(engine, over)))
  if (out.json) {
    out.value({ days, ...(dry ? { dry_run: true } : {}), ...pruned, ...forgotten })
    return EXIT.ok
  }
  const { passes, runs, contents } = forgotten
  const said = dry ? "Would remove" : "Removed"
  if (passes > 0)
    out.line(
      `${said} ${passes === 1 ? "1 pass" : `${passes} passes`} with all that hung on ${passes === 1 ? "it" : "them"}.`,
    )
  if (runs > 0) out.line(`${said} ${plural(runs, "run")} of flows.`)
  if (contents > 0) out.line(`${said} ${plural(contents, "content")} of files that nothing refers to.`)
  out.line(
    `${said} ${plural(pruned.lines, "line")} and ${plural(pruned.files, "file")} of the audit, older than ${plural(days, "day")}.`,
  )
  if (pruned.kept.length > 0) out.line("Kept, because they are not in order (pass-over audit verify):")
  printFaults(out, pruned.kept)
  return EXIT.ok
}
