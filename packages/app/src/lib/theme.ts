import { createSignal } from "solid-js"

export type Theme = "auto" | "light" | "dark"
const KEY = "pass-over-theme"

const read = (): Theme => {
  const kept = localStorage.getItem(KEY)
  return kept === "light" || kept === "dark" ? kept : "auto"
}

const [theme, setTheme] = createSignal<Theme>(read())
export { theme }

export function useTheme(next: Theme) {
  localStorage.setItem(KEY, next)
  setTheme(next)
  if (next === "auto") delete document.documentElement.dataset.theme
  if (next !== "auto") document.documentElement.dataset.theme = next
}
