import { For, Show, type JSX } from "solid-js"
import type { Run } from "../../../opencode/src/server/schema-flow"
import { link } from "../lib/route"
import { WORDS } from "../lib/words"
import { BadgeMark } from "./badge"
import { boxBadge, boxLines, type Box } from "./pass-over-flows-view"
import { Said, Text } from "./text"

type Node = Run["nodes"][number]
type Deeds = (box: Box) => JSX.Element

function Step(props: { box: Box; running: boolean; deeds: Deeds | undefined }) {
  return (
    <div class="box" data-mark={props.box.mark} data-kind={props.box.kind}>
      <p class="box-head">
        <strong>
          <Text text={props.box.id} />
        </strong>
        <Show when={props.running}>
          <BadgeMark badge={boxBadge(props.box)} />
        </Show>
      </p>
      <p class="box-about" dir="auto">
        <Text text={props.box.about} />
      </p>
      <Show when={props.box.conditional}>
        <p class="box-line">{WORDS.flows.conditional}</p>
      </Show>
      <For each={boxLines(props.box)}>{(line) => <Said text={line} class="box-line" />}</For>
      <p class="box-line">
        <Show when={props.box.result?.pass_over_id}>
          {(id) => (
            <a href={link("pass", { id: id() })}>
              {WORDS.flows.open_pass}
              <span class="visually-hidden"> {props.box.id}</span>
            </a>
          )}
        </Show>
        <Show when={props.box.waiting.length > 0}>
          <a href={link("inbox")}>{WORDS.flows.answer}</a>
        </Show>
      </p>
      {props.deeds?.(props.box)}
    </div>
  )
}

/** A flow or a run, from top to bottom; what runs side by side stands side by side. */
export function FlowDiagram(props: { nodes: readonly Node[]; running: boolean; deeds?: Deeds; label: string }) {
  return (
    <ol class="flow" aria-label={props.label}>
      <For each={props.nodes}>
        {(node) => (
          <li data-conditional={node.conditional}>
            <Show
              when={node.branches.length > 0}
              fallback={<Step box={node} running={props.running} deeds={props.deeds} />}
            >
              <ul class="branches" aria-label={WORDS.flows.side_by_side}>
                <For each={node.branches}>
                  {(branch) => (
                    <li>
                      <Step box={branch} running={props.running} deeds={props.deeds} />
                    </li>
                  )}
                </For>
              </ul>
              <Step box={node} running={props.running} deeds={props.deeds} />
            </Show>
          </li>
        )}
      </For>
    </ol>
  )
}
