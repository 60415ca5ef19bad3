import { createMemo, createSignal, For, Match, Show, Switch, type JSX } from "solid-js"
import { count, exactly, moment } from "../lib/format"
import { link } from "../lib/route"
import { useTranscript } from "../lib/transcript"
import { WORDS } from "../lib/words"
import type { Detail } from "./pass-over-pass"
import { createSteps, firstLine, latest, LINES, useLine, type Step, type Use } from "./pass-over-transcript-view"
import { Empty, Failed, Loading } from "./state"
import { Said, Text } from "./text"

type Timed = { now: number; at: number | undefined }

function Time(props: Timed) {
  return <Show when={props.at}>{(at) => <time title={exactly(at())}>{moment(at(), props.now)}</time>}</Show>
}

function More(props: { count: number }) {
  return (
    <Show when={props.count > 0}>
      <p class="meta">{WORDS.pass.more(count(props.count))}</p>
    </Show>
  )
}

/** A line that opens. What is in it is made when it is opened: there may be thousands, and each of them long. */
function Fold(props: Timed & { head: JSX.Element; children: JSX.Element; open?: boolean }) {
  const [open, setOpen] = createSignal(props.open === true)
  return (
    <details open={open()} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {props.head}
        <Time now={props.now} at={props.at} />
      </summary>
      <Show when={open()}>{props.children}</Show>
    </details>
  )
}

function Tool(props: { use: Use; now: number }) {
  return (
    <Fold
      now={props.now}
      at={props.use.at}
      head={
        <>
          <span class="tool">{props.use.tool}</span>
          <span class="use-line">
            <Text text={useLine(props.use)} />
          </span>
          <Show when={props.use.failed}>
            <span class="badge" data-tone="bad">
              ✕ {WORDS.pass.failed}
            </span>
          </Show>
        </>
      }
    >
      <p class="label">{WORDS.pass.input}</p>
      <pre tabindex="0">
        <Text text={props.use.input} />
      </pre>
      <More count={props.use.input_more} />
      <p class="label">{WORDS.pass.output}</p>
      <pre tabindex="0">
        <Text text={props.use.output} />
      </pre>
      <More count={props.use.output_more} />
    </Fold>
  )
}

type Words = Extract<Step, { type: "told" | "thought" }>

/** What was told or thought is long, and seldom what one looks for: its first line, until it is opened. */
function Folded(props: { step: Words; now: number; label: string; open: boolean }) {
  return (
    <Fold
      now={props.now}
      at={props.step.at}
      open={props.open}
      head={
        <>
          <span class="label">{props.label}</span>
          <span class="use-line peek">
            <Text text={firstLine(props.step.text)} />
          </span>
        </>
      }
    >
      <p class="said told" tabindex="0" role="region" aria-label={props.label} dir="auto">
        <Text text={props.step.text} />
      </p>
      <More count={props.step.more} />
    </Fold>
  )
}

function Spoken(props: Partial<Timed> & { label: string; text: string; more?: number }) {
  return (
    <div class="spoken">
      <p class="spoken-head">
        <span class="label">{props.label}</span>
        <Time now={props.now ?? 0} at={props.at} />
      </p>
      <Said text={props.text} />
      <More count={props.more ?? 0} />
    </div>
  )
}

function StepLine(props: { step: Step; now: number; first: boolean }) {
  const { step } = props
  if (step.type === "tool") return <Tool use={step.use} now={props.now} />
  if (step.type === "told") return <Folded step={step} now={props.now} label={WORDS.pass.told} open={props.first} />
  if (step.type === "thought") return <Folded step={step} now={props.now} label={WORDS.pass.thought} open={false} />
  if (step.type === "noted")
    return <Spoken label={step.internal ? WORDS.pass.noted : WORDS.pass.spoke} text={step.text} />
  const label = step.by === undefined ? WORDS.pass.spoke : WORDS.pass.spoke_other(step.by)
  return <Spoken label={label} text={step.text} more={step.more} now={props.now} at={step.at} />
}

/** How it came to its end. */
function End(props: { detail: Detail }) {
  return (
    <Show when={props.detail.output}>
      {(output) => (
        <li>
          <div class="spoken">
            <p class="label">{WORDS.pass.ended(WORDS.outcome[output().status])}</p>
            <Said text={output().summary.decision_reason ?? output().completion_reason ?? ""} />
            <p>
              <a href={link("pass", { id: props.detail.pass.id, tab: "outcome" })}>{WORDS.pass.to_outcome}</a>
            </p>
          </div>
        </li>
      )}
    </Show>
  )
}

/** What the child was told, said and did, in order, while it works and afterwards. */
export function PassTranscript(props: { detail: Detail; now: number }) {
  const heard = useTranscript(() => props.detail.pass.id)
  const arrange = createSteps()
  const steps = createMemo(() =>
    arrange(heard.data ?? [], props.detail.output?.artifacts ?? [], props.detail.pass.subagent_id),
  )
  const [room, setRoom] = createSignal(LINES)
  const shown = createMemo(() => latest(steps(), room()))
  return (
    <Switch>
      <Match when={heard.isError && !heard.data}>
        <Failed error={heard.error} retry={() => void heard.refetch()} />
      </Match>
      <Match when={heard.isPending}>
        <Loading />
      </Match>
      <Match when={steps().length === 0}>
        <Empty title={WORDS.pass.nothing} />
      </Match>
      <Match when={true}>
        <section>
          <h2 class="section-title">{WORDS.pass.transcript}</h2>
          <p class="hint">{WORDS.pass.transcript_hint}</p>
          <ol class="uses" aria-label={WORDS.pass.transcript}>
            <Show when={shown().first}>
              {(first) => (
                <>
                  <li>
                    <StepLine step={first()} now={props.now} first />
                  </li>
                  <li class="rest">
                    <span>{WORDS.pass.earlier(count(shown().left))}</span>
                    <button type="button" class="button small" onClick={() => setRoom(room() + LINES)}>
                      {WORDS.state.more}
                    </button>
                  </li>
                </>
              )}
            </Show>
            <For each={shown().last}>
              {(step) => (
                <li>
                  <StepLine step={step} now={props.now} first={step === steps()[0]} />
                </li>
              )}
            </For>
            <End detail={props.detail} />
          </ol>
        </section>
      </Match>
    </Switch>
  )
}
