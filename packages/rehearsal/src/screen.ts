const LOOK_MS = 40
// What moves all the time, as a clock does, is never quite painted.
const PAINT_MS = 200

type Looking = {
  capture(): Promise<string>
  text: string | RegExp
  timeout_ms: number
}

/** The screen, once it shows a text and is painted: what is being painted is seen in halves. */
export async function screenWith({ capture, text, timeout_ms }: Looking): Promise<string> {
  const shows = (screen: string) => (typeof text === "string" ? screen.includes(text) : text.test(screen))

  async function painted(screen: string, until: number): Promise<string> {
    await Bun.sleep(LOOK_MS)
    const now = await capture()
    // It may show something else by now; then what was asked for has been seen all the same.
    if (now === screen || !shows(now) || performance.now() > until) return shows(now) ? now : screen
    return painted(now, until)
  }

  const until = performance.now() + timeout_ms
  // tmux has no event for "the screen changed", so this has to look.
  while (true) {
    const screen = await capture()
    if (shows(screen)) return painted(screen, performance.now() + PAINT_MS)
    if (performance.now() > until) throw new Error(`${text} was not on the screen within ${timeout_ms} ms:\n${screen}`)
    await Bun.sleep(LOOK_MS)
  }
}
