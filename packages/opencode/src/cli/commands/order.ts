import { alive } from "../../identity"
import { order } from "../../pass-over/service/command"
import type { Engine } from "../../pass-over/service/engine"
import type { Pass } from "../../pass-over/domain/pass"
import { clean } from "../clean"
import { refused, usage, type Command, type Invocation } from "../command"
import { actor, withEngine } from "../engine"
import { EXIT } from "../exit"
import { findPass, short } from "../find"

/** Its owner looks four times a second; with this it has had its chance. */
const PATIENCE_MS = 5_000

/** Why nobody answered: an owner that is gone never will, and what it left is picked up when opencode starts. */
async function silence(engine: Engine, pass: Pass): Promise<string> {
  const owner = await engine.store.owner(pass.owner_id)
  return owner && alive(owner) !== "dead"
    ? "It was handed to the opencode that runs this pass, which has not answered yet. It carries it out at its next chance."
    : "The opencode that ran this pass is gone. It is settled when opencode starts again on this machine."
}

async function ask(call: Invocation, kind: "cancel" | "message", words: string) {
  const { out, args } = call
  const [given = ""] = args
  return withEngine(async (engine) => {
    const pass = await findPass(engine.store, given)
    const done = await out.progress(`Waiting for the opencode that runs ${short(pass.id)} …`, () =>
      order(engine, { pass_over_id: pass.id, kind, text: words, actor: actor(), patience_ms: PATIENCE_MS }),
    )
    if (!done.ok) throw refused(done.refusal)
    // Its number is only told while nobody has answered it.
    const pending = done.command_id !== undefined
    const said = pending ? await silence(engine, pass) : done.text
    if (out.json) out.value({ pass_over_id: pass.id, done: !pending, text: said })
    if (!out.json) out.line(clean(said))
    return pending ? EXIT.unconfirmed : EXIT.ok
  })
}

export const cancel: Command = {
  name: "cancel",
  person: true,
  summary: "end a running pass; what it did so far is kept",
  args: [
    { name: "<id>", text: "the id of a pass, or enough of its beginning or end" },
    { name: "[reason...]", text: "why; its originator is told" },
  ],
  examples: ["pass-over cancel 3f9c21aa", "pass-over cancel 3f9c21aa not needed any more"],
  run: (call) => ask(call, "cancel", call.args.slice(1).join(" ")),
}

export const message: Command = {
  name: "message",
  person: true,
  summary: "say something to the agent of a running pass",
  args: [
    { name: "<id>", text: "the id of a pass, or enough of its beginning or end" },
    { name: "<text...>", text: "what it shall hear at its next step" },
  ],
  examples: ["pass-over message 3f9c21aa look at src/b.ts too"],
  run: async (call) => {
    const words = call.args.slice(1).join(" ").trim()
    if (words === "") throw usage("There is nothing to say.")
    return ask(call, "message", words)
  },
}
