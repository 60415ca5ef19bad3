import { and, asc, eq, inArray, notInArray, type SQL } from "drizzle-orm"
import type { Command, Store } from "../service/port"
import { CommandTable } from "./command.sql"
import { PassOverRequestTable } from "./pass-over.sql"
import type { Base, Row } from "./statement"

type Commands = Pick<Store, "command" | "commandState" | "commands" | "tells" | "answer">

const FOR_ORIGINATORS: Command["kind"][] = ["tell", "rework"]

const toCommand = ({ command_id, pass_over_id, kind, text, actor }: Row<typeof CommandTable>): Command => ({
  command_id,
  pass_over_id,
  kind,
  text,
  actor,
})

/** Commands that nobody has carried out yet, in the order in which they were given. */
const pending = (db: Base["db"], where: SQL | undefined): Command[] =>
  db
    .select()
    .from(CommandTable)
    .innerJoin(PassOverRequestTable, eq(PassOverRequestTable.id, CommandTable.pass_over_id))
    .where(and(eq(CommandTable.status, "pending"), where))
    .orderBy(asc(CommandTable.command_id))
    .all()
    .map((row) => toCommand(row.pass_over_commands))

/** What others want of passes that run somewhere: written down here, carried out by whoever owns the pass. */
export function createCommands({ db, write }: Base): Commands {
  return {
    command: (command, at) =>
      write(() => {
        db.insert(CommandTable)
          .values({ ...command, status: "pending", time_created: at })
          .run()
      }),

    commandState: async (command_id) => {
      const row = db
        .select()
        .from(CommandTable)
        .where(eq(CommandTable.command_id, command_id as Command["command_id"]))
        .get()
      return row && { ...toCommand(row), status: row.status, result: row.result }
    },

    commands: async (owner_id) =>
      pending(db, and(eq(PassOverRequestTable.owner_id, owner_id), notInArray(CommandTable.kind, FOR_ORIGINATORS))),

    tells: async (directory) =>
      pending(db, and(eq(PassOverRequestTable.directory, directory), inArray(CommandTable.kind, FOR_ORIGINATORS))),

    answer: ({ command_id, status, result, at }) =>
      write(() => {
        const mine = and(
          eq(CommandTable.command_id, command_id as Command["command_id"]),
          eq(CommandTable.status, "pending"),
        )
        const answered = db.update(CommandTable).set({ status, result, time_done: at }).where(mine).returning().all()
        return answered.length > 0
      }),
  }
}
