import { createMemo, For, Show } from "solid-js"
import { WORDS } from "../lib/words"
import { rows, type Layout, type PatchLine } from "./pass-over-change-view"
import { Text } from "./text"

/** A line of a diff. It keeps its reading direction to itself. */
function Line(props: { line: PatchLine }) {
  return (
    <>
      {props.line.sign}{" "}
      <bdi class="diff-text">
        <Text text={props.line.text} />
      </bdi>
      <Show when={props.line.bare}>
        {" "}
        <span class="hidden-char">{WORDS.changes.bare}</span>
      </Show>
    </>
  )
}

function Unified(props: { lines: readonly PatchLine[]; label: string }) {
  return (
    <pre class="diff" tabindex="0" aria-label={props.label}>
      <For each={props.lines.filter(({ sign }) => sign !== "@")}>
        {(line) => (
          <span data-sign={line.sign}>
            <Show when={line.old !== null || line.new !== null}>
              <i class="line-number">{line.old ?? ""}</i>
              <i class="line-number">{line.new ?? ""}</i>
            </Show>
            <Line line={line} />
            {"\n"}
          </span>
        )}
      </For>
    </pre>
  )
}

function Side(props: { line: PatchLine | null; number: number | null | undefined }) {
  return (
    <>
      <td class="line-number">{props.number ?? ""}</td>
      <td class="side-text" data-sign={props.line?.sign ?? "none"}>
        <Show when={props.line}>{(line) => <Line line={line()} />}</Show>
      </td>
    </>
  )
}

function Split(props: { lines: readonly PatchLine[]; label: string }) {
  const pairs = createMemo(() => rows(props.lines))
  return (
    <div class="diff split" tabindex="0" role="region" aria-label={props.label}>
      <table>
        <colgroup>
          <col class="number-column" />
          <col />
          <col class="number-column" />
          <col />
        </colgroup>
        <thead class="visually-hidden">
          <tr>
            <th scope="col" colspan="2">
              {WORDS.changes.before}
            </th>
            <th scope="col" colspan="2">
              {WORDS.changes.after}
            </th>
          </tr>
        </thead>
        <tbody>
          <For each={pairs()}>
            {(pair) => (
              <tr>
                <Side line={pair.old} number={pair.old?.old} />
                <Side line={pair.new} number={pair.new?.new} />
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  )
}

/** Lines of a diff, one under the other or side by side. */
export function Diff(props: { lines: readonly PatchLine[]; layout: Layout; label: string }) {
  return (
    <Show when={props.layout === "split"} fallback={<Unified lines={props.lines} label={props.label} />}>
      <Split lines={props.lines} label={props.label} />
    </Show>
  )
}

/** How much of a diff is not shown, and the way to it. */
export function Rest(props: { lines: number; page: number; more: () => void; why?: string }) {
  return (
    <Show when={props.lines > 0}>
      <p class="rest">
        <span>
          {WORDS.changes.unseen(props.lines)} {props.why}
        </span>{" "}
        <button type="button" class="button small" onClick={() => props.more()}>
          {WORDS.changes.show_more(Math.min(props.lines, props.page))}
        </button>
      </p>
    </Show>
  )
}
