/** The name of the schema file that lies beside the preferences, so that editors find it without the network. */
export const SCHEMA_FILE = "pass-over.schema.json"

/** What `init` writes: it changes nothing, and shows where to begin. */
export const STARTER = `// Pass Over: who may hand what to whom, with which rights and limits, and when you are asked.
// Everything in here is optional; without this file it all works with the shipped values.
// What holds between two agents, and why:   pass-over config explain alice audit
// Whether this file is in order:            pass-over config validate
{
  "$schema": "./${SCHEMA_FILE}",

  // What holds for every pass where nothing more precise is said.
  "defaults": {
    // Ask you before a pass starts.
    // "require_confirmation": true,

    // Let a result that is not completed, or has an error, a rejection or a blocker, wait for you before the agent that
    // asked for it sees it.
    // "auto_return": false,
    // … and with this every other result too.
    // "auto_review": false,

    // How long a pass may take, in milliseconds.
    // "timeout_ms": 600000
  },

  // What one agent may hand to another. Either side may be "*".
  "pairs": {
    // "alice->audit": { "timeout_ms": 900000 },
    // "scout->audit": { "enabled": false, "reason": "alice decides what is audited" }
  },

  // What holds for every pass to a subagent.
  "subagents": {
    // "audit": { "can_modify_files": false }
  }
}
`
