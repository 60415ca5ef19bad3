/** The life of a pass and its failures as documents, from the tables that the code runs on. */
import { ERRORS, errorName, type PassOverErrorCode } from "../src/pass-over/domain/errors"
import { TRANSITIONS, type ReturnStatus } from "../src/pass-over/domain/return-context"

const rows = Object.entries(TRANSITIONS).flatMap(([from, to]) =>
  Object.entries(to).map(([target, why]) => ({ from, target, why })),
)

const ends = (Object.keys(TRANSITIONS) as ReturnStatus[]).filter(
  (status) => Object.keys(TRANSITIONS[status]).length === 0,
)

export const lifecycleDocument = () =>
  [
    "# The life of a pass",
    "",
    "<!-- Generated from domain/return-context.ts by `bun run generate`. Do not edit. -->",
    "",
    "A pass moves by this table and no other way. A move that is not in it is refused with E040, whoever asks for it;",
    "of two that move the same pass at the same time, one is told that it came second.",
    "",
    "```mermaid",
    "stateDiagram-v2",
    "  [*] --> initial",
    ...rows.map(({ from, target, why }) => `  ${from} --> ${target}: ${why}`),
    ...ends.map((end) => `  ${end} --> [*]`),
    "```",
    "",
    "| from | to | when |",
    "|---|---|---|",
    ...rows.map(({ from, target, why }) => `| \`${from}\` | \`${target}\` | ${why} |`),
    "",
    `Nothing follows ${ends.map((end) => `\`${end}\``).join(", ")}. What was kept of a pass that timed out may still be read,`,
    "reviewed and applied: that changes its output, not its state.",
    "",
  ].join("\n")

export const failureDocument = () =>
  [
    "# What can go wrong, and what to do",
    "",
    "<!-- Generated from domain/errors.ts by `bun run generate`. Do not edit. -->",
    "",
    "Every refusal and every failed pass carries one of these codes. *Again* says whether trying again can help without",
    "anybody changing anything first.",
    "",
    "| code | name | what it means | what to do | again |",
    "|---|---|---|---|---|",
    ...Object.entries(ERRORS).map(
      ([code, { user, action, recoverable }]) =>
        `| ${code} | \`${errorName(code as PassOverErrorCode)}\` | ${user} | ${action} | ${recoverable ? "yes" : "no"} |`,
    ),
    "",
    "Whatever happens, a pass ends with exactly one outcome. Where the child could not return, the outcome is made of what",
    "its session shows: tool results, changes, decisions and its last words, and it says what is missing.",
    "",
    "## Where the database cannot be used",
    "",
    "Its disk is full or read-only, the file is damaged, or a newer Pass Over has changed it: opencode works as without Pass",
    "Over. One line says what is wrong and what to do, and every pass is refused with the same sentence. What a newer one has",
    "changed can still be read. A result that comes meanwhile is handed over with a note that it is not written down; it is",
    "written down, and passes are made again, as soon as the database can be written. Nothing has to be started anew, except",
    "where the line says so.",
    "",
    "Where a project cannot be written, its log files wait. Every line is in the database, and the files catch up.",
    "",
  ].join("\n")
