import type { TuiPluginApi } from "@opencode-ai/plugin/tui"

/** What went wrong, as a sentence. */
export const problemOf = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "unknown"

export const say = (api: TuiPluginApi, message: string, variant: "info" | "error" | "success" = "info") =>
  api.ui.toast({ title: "Pass Over", message, variant })

/** Runs what may fail; a failure is a sentence, and no dialog stays behind that leads nowhere. */
export const attempt = (api: TuiPluginApi, title: string, run: () => Promise<void>) =>
  void run().catch((error: unknown) => tell(api, title, `That did not work: ${problemOf(error)}`))

/** One thing to read and to close. The host closes it; what comes next comes after that. */
export function tell(api: TuiPluginApi, title: string, message: string, next?: () => void) {
  const { DialogAlert } = api.ui
  api.ui.dialog.replace(() => (
    <DialogAlert
      title={title}
      message={message}
      onConfirm={() => {
        api.ui.dialog.clear()
        if (next) setTimeout(next, 0)
      }}
    />
  ))
}
