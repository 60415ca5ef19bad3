import { For } from "solid-js"
import { Text } from "./text"

/** The agents of a chain, drawn as a line of stations. */
export function Chain(props: { agents: readonly string[]; small?: boolean }) {
  return (
    <ol class="chain" classList={{ small: props.small === true }}>
      <For each={props.agents}>
        {(agent, index) => (
          <li data-last={index() === props.agents.length - 1}>
            <span class="agent">
              <Text text={agent} />
            </span>
          </li>
        )}
      </For>
    </ol>
  )
}
