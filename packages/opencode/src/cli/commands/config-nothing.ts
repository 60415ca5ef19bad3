import { Stop } from "../command"
import { EXIT } from "../exit"

/** Taking away what nobody wrote is most often a name that is not quite right. */
export const nothingThere = (where: string, what: string) =>
  new Stop(
    EXIT.not_found,
    `${where} says nothing of ${what}, so there is nothing to take away.`,
    "pass-over config show tells what each place says.",
    "E042",
  )
