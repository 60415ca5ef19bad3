import { createMemo, For, Show } from "solid-js"
import { WORDS } from "../lib/words"
import { rows, type Hunk, type Layout, type PatchLine } from "./pass-over-change-view"

function Unified(props: { lines: readonly PatchLine[]; label: string }) {
  return (
    <pre class="diff" tabindex="0" aria-label={props.label}>
      <For each={props.lines.filter(({ sign }) => sign !== "@")}>
        {(line) => (
          <span data-sign={line.sign}>
            <i class="line-number">{line.old ?? ""}</i>
            <i class="line-number">{line.new ?? ""}</i>
            {line.sign} {line.text}
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
        {props.line ? `${props.line.sign} ${props.line.text}` : ""}
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

/** One hunk of a diff, one under the other or side by side. */
export function Diff(props: { hunk: Hunk; layout: Layout; label: string }) {
  return (
    <Show when={props.layout === "split"} fallback={<Unified lines={props.hunk.lines} label={props.label} />}>
      <Split lines={props.hunk.lines} label={props.label} />
    </Show>
  )
}
