import { createSignal, Show } from "solid-js"
import type { PassSummary } from "../../../opencode/src/server/schema"
import { api } from "../lib/api"
import { WORDS } from "../lib/words"
import { Dialog } from "./dialog"
import { Press } from "./press"
import { Failed } from "./state"

type Props = { pass: Pick<PassSummary, "id" | "subagent_id">; close: () => void }

/** Asks for a few words before something is done. */
export function Ask(
  props: Pick<Props, "close"> & {
    title: string
    text: string
    label: string
    yes: string
    no: string
    needed: boolean
    danger?: boolean
    send: (text: string) => Promise<unknown>
  },
) {
  const [text, setText] = createSignal("")
  const [busy, setBusy] = createSignal(false)
  const [error, setError] = createSignal<unknown>()
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      await props.send(text().trim())
      props.close()
    } catch (caught) {
      setError(caught)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title={props.title} close={props.close}>
      <form onSubmit={(event) => void submit(event)}>
        <p>{props.text}</p>
        <label class="field">
          <span>{props.label}</span>
          <textarea rows="3" value={text()} onInput={(event) => setText(event.currentTarget.value)} autofocus />
        </label>
        <Show when={error()}>{(caught) => <Failed error={caught()} />}</Show>
        <div class="actions end">
          <button type="button" class="button quiet" onClick={() => props.close()}>
            {props.no}
          </button>
          <Press
            type="submit"
            class="button"
            classList={{ danger: props.danger === true, primary: props.danger !== true }}
            idle={busy() || (props.needed && text().trim() === "")}
          >
            {props.yes}
          </Press>
        </div>
      </form>
    </Dialog>
  )
}

export const CancelDialog = (props: Props) => (
  <Ask
    {...props}
    title={WORDS.now.cancel_title(props.pass.subagent_id)}
    text={WORDS.now.cancel_text}
    label={WORDS.now.cancel_reason}
    yes={WORDS.now.cancel_yes}
    no={WORDS.now.cancel_no}
    needed={false}
    danger
    send={(reason) => api[":id"].cancel.$post({ param: { id: props.pass.id }, json: { reason } })}
  />
)

export const SpeakDialog = (props: Props) => (
  <Ask
    {...props}
    title={WORDS.now.speak_title(props.pass.subagent_id)}
    text={WORDS.now.speak_text}
    label={WORDS.now.speak_label}
    yes={WORDS.now.speak_send}
    no={WORDS.now.close}
    needed
    send={(text) => api[":id"].message.$post({ param: { id: props.pass.id }, json: { text } })}
  />
)
