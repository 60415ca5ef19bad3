type Part = { type: string; text?: string; synthetic?: boolean; name?: string }

// The host answers a mention with this instruction; the name of the agent stands behind it.
const HOST_SAYS = /call the task tool with subagent: (.+?)( \. Invoked by user; guaranteed to exist\.)?$/

/**
 * "@audit" in a prompt to an originator leads to a pass. The host would send its model to the native task tool, which
 * has no deadline, no typed result and no record, and which alice does not have.
 */
export const redirectMentions =
  (originates: (name: string) => boolean) =>
  (
    input: { sessionID: string; agent: string | undefined },
    output: { message: { agent?: string }; parts: unknown[] },
  ) => {
    const agent = input.agent ?? output.message.agent
    if (agent === undefined || !originates(agent)) return
    for (const part of output.parts as Part[]) {
      if (part.type !== "text" || !part.synthetic || part.text === undefined) continue
      const [, name] = HOST_SAYS.exec(part.text) ?? []
      if (name === undefined) continue
      part.text = ` The user mentioned ${name}. Pass the work of the above message to it: call pass_over with subagent: ${name}`
    }
  }
