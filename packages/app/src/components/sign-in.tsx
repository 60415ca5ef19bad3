import { Show } from "solid-js"
import { signedOut } from "../lib/api"
import { refused } from "../lib/entrance"
import { WORDS } from "../lib/words"
import { Mark } from "./mark"

export function SignIn() {
  return (
    <main class="sign-in" id="content">
      <Mark />
      <h1>{WORDS.sign_in.title}</h1>
      <Show when={refused()}>
        {(why) => (
          <p class="notice" role="alert">
            {why()}
          </p>
        )}
      </Show>
      <Show when={signedOut() && refused() === undefined}>
        <p class="notice" role="alert">
          {WORDS.sign_in.ended}
        </p>
      </Show>
      <p>{WORDS.sign_in.text}</p>
      <pre>{WORDS.sign_in.command}</pre>
    </main>
  )
}
