/** What a child is told first, and of which pass it is the child. */
export type First = { pass_id: string; body: string }

/** How opencode's own thread makes a session and asks it for the first time. */
export type Midwife = {
  /** Makes a session, which is asked as soon as it is there; its model is asked for nothing before `rest`. */
  make(request: Request, first: First): Promise<Response>
  /** From now on its model may be asked. Comes with how that first prompt ended; nothing where none was sent. */
  rest(session_id: string): Promise<Response | undefined>
}

/**
 * Children whose first words are sent along with their sessions. Otherwise they would be sent when this thread has heard
 * of the session and has bound it: opencode's thread has nothing to do for that long, and collects its heap instead.
 */
export function createNursery() {
  const state: { there?: Midwife } = {}
  return {
    use: (there: Midwife) => void (state.there = there),
    /** The way by which a request for a session is sent, so that its first words go along with it. */
    way: (first: First) => {
      const { there } = state
      return there ? { fetch: Object.assign((request: Request) => there.make(request, first), fetch) } : {}
    },
    rest: (session_id: string): Promise<Response | undefined> =>
      state.there?.rest(session_id) ?? Promise.resolve(undefined),
  }
}

export type Nursery = ReturnType<typeof createNursery>
