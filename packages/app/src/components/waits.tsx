import { Show } from "solid-js"
import { useInbox, waitMore } from "../lib/inbox"
import { link } from "../lib/route"
import { WORDS } from "../lib/words"
import { waitsFor, type Node } from "./pass-over-status-view"

/** Who is waited for; and where it is a person, where they answer. */
export function Waits(props: { node: Node }) {
  const inbox = useInbox()
  // A question may stand further down than the inbox was read; what opencode asks for itself stands in no inbox.
  const asked = () =>
    inbox.data?.items.some(({ gate }) => gate.pass_over_id === props.node.id) === true || waitMore(inbox)
  return (
    <Show when={waitsFor(props.node)}>
      {(who) => (
        <span class="waits">
          {who()}
          <Show when={props.node.you}>
            {": "}
            <Show when={asked()} fallback={WORDS.now.answer_there}>
              <a href={link("inbox")}>{WORDS.now.answer_here}</a>
            </Show>
          </Show>
        </span>
      )}
    </Show>
  )
}
