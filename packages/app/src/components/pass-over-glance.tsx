import { createMemo, For, Match, Show, Switch } from "solid-js"
import type { AuditLine } from "../../../opencode/src/pass-over/domain/audit-log"
import { ApiError } from "../lib/api"
import { link } from "../lib/route"
import { WORDS } from "../lib/words"
import { BadgeMark } from "./badge"
import { severityBadge } from "./badge-view"
import { usePass } from "./pass-over-pass"
import { ChainList, Moments } from "./pass-over-pass-parts"
import { placeOf, sorted } from "./pass-over-pass-view"
import { Failed, Loading } from "./state"
import { Pair, Said, Text } from "./text"

/** The pass behind an audit entry: its chain, what it found and decided, and when. */
export function Glance(props: { line: AuditLine; now: number; close: () => void }) {
  const pass = usePass(() => props.line.pass_over_id)
  const refused = () => pass.error instanceof ApiError && pass.error.code === "E042"
  const parts = createMemo(() => sorted(pass.data?.output?.artifacts ?? []))
  return (
    <>
      <header class="card-head">
        <h2>
          <Pair from={props.line.originating_agent} to={props.line.subagent} />
        </h2>
        <button type="button" class="button quiet small" onClick={() => props.close()}>
          {WORDS.now.close}
        </button>
      </header>
      <Said text={props.line.summary} />
      <Switch>
        <Match when={refused()}>
          <p class="hint">{WORDS.audit.refused}</p>
        </Match>
        <Match when={pass.isError && !pass.data}>
          <Failed error={pass.error} />
        </Match>
        <Match when={pass.isPending}>
          <Loading />
        </Match>
        <Match when={pass.data}>
          {(detail) => (
            <>
              <p>
                <a class="button" href={link("pass", { id: detail().pass.id })}>
                  {WORDS.audit.whole}
                </a>
              </p>
              <h3 class="section-title">{WORDS.pass.chain}</h3>
              <ChainList detail={detail()} />
              <Show when={parts().findings.length > 0}>
                <h3 class="section-title">{WORDS.pass.findings(parts().findings.length)}</h3>
                <ul class="plain-list">
                  <For each={parts().findings.slice(0, 20)}>
                    {(finding) => (
                      <li class="finding">
                        <BadgeMark badge={severityBadge(finding.severity)} />
                        <span class="said" dir="auto">
                          <Text text={finding.message} />{" "}
                          <code>
                            <Text text={placeOf(finding.location)} />
                          </code>
                        </span>
                      </li>
                    )}
                  </For>
                </ul>
              </Show>
              <Show when={detail().output?.summary.decision_reason}>
                {(reason) => (
                  <>
                    <h3 class="section-title">{WORDS.pass.decision}</h3>
                    <Said text={reason()} />
                  </>
                )}
              </Show>
              <h3 class="section-title">{WORDS.pass.happened}</h3>
              <Moments detail={detail()} now={props.now} />
            </>
          )}
        </Match>
      </Switch>
    </>
  )
}
