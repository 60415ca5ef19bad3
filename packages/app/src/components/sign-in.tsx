import { Show } from "solid-js"
import { signedOut } from "../lib/api"
import { WORDS } from "../lib/words"
import { Mark } from "./mark"

export function SignIn(props: { expired: boolean }) {
  return (
    <main class="sign-in" id="content">
      <Mark />
      <h1>{WORDS.sign_in.title}</h1>
      <Show when={props.expired}>
        <p class="notice" role="alert">
          {WORDS.sign_in.expired}
        </p>
      </Show>
      <Show when={signedOut()}>
        <p class="notice" role="alert">
          {WORDS.sign_in.ended}
        </p>
      </Show>
      <p>{WORDS.sign_in.text}</p>
      <pre>{WORDS.sign_in.command}</pre>
    </main>
  )
}
