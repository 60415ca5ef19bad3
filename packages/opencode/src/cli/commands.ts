import type { Command } from "./command"
import { audit } from "./commands/audit"
import { apply, review, undo } from "./commands/change"
import { config } from "./commands/config"
import { doctor } from "./commands/doctor"
import { flow } from "./commands/flow"
import { approve, inbox, question, reject } from "./commands/gate"
import { init } from "./commands/init"
import { list } from "./commands/list"
import { open } from "./commands/open"
import { cancel, message } from "./commands/order"
import { serve } from "./commands/serve"
import { run } from "./commands/run"
import { show } from "./commands/show"

/** Every command, in the order of the help. A new one is a file in `commands/` and a line here. */
export const COMMANDS: readonly Command[] = [
  init,
  doctor,
  open,
  serve,
  run,
  list,
  show,
  cancel,
  message,
  review,
  apply,
  undo,
  inbox,
  approve,
  reject,
  question,
  flow,
  config,
  audit,
]
