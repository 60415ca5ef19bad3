import { createMemo, createSignal, For, Show } from "solid-js"
import type {
  FileModificationArtifact,
  FindingArtifact,
  MessageArtifact,
} from "../../../opencode/src/pass-over/domain/artifact"
import { meaning } from "../../../opencode/src/pass-over/domain/errors"
import type { OutputVerdict } from "../../../opencode/src/pass-over/domain/evidence-schema"
import { visible } from "../../../opencode/src/pass-over/domain/hidden"
import { count } from "../lib/format"
import { WORDS } from "../lib/words"
import { BadgeMark } from "./badge"
import { outcomeBadge, severityBadge, verdictBadge } from "./badge-view"
import { PAGE } from "./pass-over-change-view"
import { Diff, Rest } from "./pass-over-diff"
import type { Detail } from "./pass-over-pass"
import { diffLines, messageOf, placeOf, sorted, whyChanged } from "./pass-over-pass-view"
import { Empty } from "./state"
import { HiddenNotice, Said, Text } from "./text"

function Finding(props: { finding: FindingArtifact }) {
  return (
    <li class="finding">
      <BadgeMark badge={severityBadge(props.finding.severity)} />
      <div>
        <Said text={props.finding.message} />
        <p class="meta">
          <span>
            <Text text={props.finding.category} />
          </span>
          <Show when={placeOf(props.finding.location)}>
            {(text) => (
              <code>
                <Text text={text()} />
              </code>
            )}
          </Show>
        </p>
        <Show when={props.finding.suggested_fix}>
          {(fix) => (
            <details>
              <summary>{WORDS.pass.fix}</summary>
              <pre tabindex="0">
                <Text text={fix()} />
              </pre>
            </details>
          )}
        </Show>
      </div>
    </li>
  )
}

function Change(props: { change: FileModificationArtifact }) {
  const lines = createMemo(() => diffLines(props.change.old_content, props.change.new_content))
  const [room, setRoom] = createSignal(PAGE)
  return (
    <details class="change" open>
      <summary>
        <code>
          <bdi>
            <Text text={props.change.path} />
          </bdi>
        </code>{" "}
        <span class="meta" dir="auto">
          <Text text={whyChanged(props.change)} />
        </span>
      </summary>
      <HiddenNotice texts={[props.change.path, ...lines().map(({ text }) => text)]} />
      <Diff lines={lines().slice(0, room())} layout="unified" label={visible(props.change.path)} />
      <Rest lines={Math.max(0, lines().length - room())} page={PAGE} more={() => setRoom(room() + PAGE)} />
    </details>
  )
}

/** Sentences below a heading; nothing where there are none. */
function Bullets(props: { title: string; lines: readonly string[] }) {
  return (
    <Show when={props.lines.length > 0}>
      <section>
        <h2 class="section-title">{props.title}</h2>
        <ul class="bullets">
          <For each={props.lines}>
            {(line) => (
              <li class="said" dir="auto">
                <Text text={line} />
              </li>
            )}
          </For>
        </ul>
      </section>
    </Show>
  )
}

/** What the evidence says of it, whatever it says of itself, and which of its claims did not hold. */
function Checked(props: { verdict: OutputVerdict }) {
  return (
    <section>
      <div class="verdict">
        <BadgeMark badge={verdictBadge(props.verdict.status)} />
        <p class="said quiet-text">
          {props.verdict.checked > 0 ? WORDS.pass.checked(props.verdict.checked) : WORDS.pass.checked_none}
        </p>
      </div>
      <Bullets
        title={WORDS.pass.doubts(props.verdict.unresolved.length)}
        lines={props.verdict.unresolved.map(({ claim, why }) => `${claim}: ${why}`)}
      />
    </section>
  )
}

function Messages(props: { messages: readonly MessageArtifact[] }) {
  return (
    <Show when={props.messages.length > 0}>
      <section>
        <h2 class="section-title">{WORDS.pass.messages}</h2>
        <ul class="plain-list">
          <For each={props.messages.map(messageOf)}>
            {({ text, left, to }) => (
              <li class="decision">
                <Said text={text} />
                <Show when={left > 0}>
                  <p class="meta">{WORDS.pass.more(count(left))}</p>
                </Show>
                <Show when={to}>
                  <p class="meta">{to}</p>
                </Show>
              </li>
            )}
          </For>
        </ul>
      </section>
    </Show>
  )
}

/** What its code means to somebody who has never heard of it, and what helps. */
function Wrong(props: { found: NonNullable<ReturnType<typeof meaning>> }) {
  return (
    <section>
      <h2 class="section-title">{WORDS.pass.wrong}</h2>
      <p>{props.found.user}</p>
      <p class="meta">→ {props.found.action}</p>
    </section>
  )
}

/** What a pass came to: its decision, its findings, what it proposes. */
export function PassOutcome(props: { detail: Detail }) {
  const parts = createMemo(() => sorted(props.detail.output?.artifacts ?? []))
  return (
    <Show when={props.detail.output} fallback={<Empty title={WORDS.pass.not_yet} />}>
      {(output) => (
        <div class="outcome">
          <Show when={output().summary.decision_reason ?? output().completion_reason}>
            {(reason) => (
              <section class="verdict">
                <BadgeMark badge={outcomeBadge(output().status)} />
                <Said text={reason()} />
              </section>
            )}
          </Show>
          <Show when={meaning(props.detail.error_code)}>{(found) => <Wrong found={found()} />}</Show>
          <Show when={output().summary.generated_summary}>{(text) => <Said text={text()} />}</Show>
          <Show when={output().summary.verdict}>{(verdict) => <Checked verdict={verdict()} />}</Show>
          {/* What stood in its child's way, though the pass itself may have ended well. */}
          <Bullets
            title={WORDS.pass.errors}
            lines={(output().summary.errors ?? []).map(({ code, message }) => `${code} ${message}`)}
          />
          <section>
            <h2 class="section-title">
              {parts().findings.length > 0 ? WORDS.pass.findings(parts().findings.length) : WORDS.pass.no_findings}
            </h2>
            <ul class="plain-list">
              <For each={parts().findings}>{(finding) => <Finding finding={finding} />}</For>
            </ul>
          </section>
          <Bullets title={WORDS.pass.recommendations} lines={output().summary.recommendations ?? []} />
          <Show when={parts().changes.length > 0}>
            <section>
              <h2 class="section-title">{WORDS.pass.changes(parts().changes.length)}</h2>
              <For each={parts().changes}>{(change) => <Change change={change} />}</For>
            </section>
          </Show>
          <Messages messages={parts().messages} />
          <Show when={parts().decisions.length > 0}>
            <section>
              <h2 class="section-title">{WORDS.pass.decisions}</h2>
              <ul class="plain-list">
                <For each={parts().decisions}>
                  {(decision) => (
                    <li class="decision">
                      <p class="said" dir="auto">
                        <strong>
                          <Text text={decision.question} />
                        </strong>{" "}
                        <Text text={decision.answer} />
                      </p>
                      <Said text={decision.reasoning} class="quiet-text" />
                      <Show when={(decision.alternatives_considered ?? []).length > 0}>
                        <p class="meta">
                          {WORDS.pass.alternatives}: <Text text={decision.alternatives_considered?.join(", ") ?? ""} />
                        </p>
                      </Show>
                    </li>
                  )}
                </For>
              </ul>
            </section>
          </Show>
        </div>
      )}
    </Show>
  )
}
