import { splitProps, type JSX } from "solid-js"

type Props = Omit<JSX.ButtonHTMLAttributes<HTMLButtonElement>, "disabled" | "onClick"> & {
  idle: boolean
  onClick?: () => void
}

/** A button that is out of use at times. A disabled one would let go of the focus, and who goes by keys begin anew. */
export function Press(props: Props) {
  const [own, rest] = splitProps(props, ["idle", "onClick"])
  const press = (event: MouseEvent) => {
    if (own.idle) return event.preventDefault()
    own.onClick?.()
  }
  return <button type="button" {...rest} aria-disabled={own.idle} onClick={press} />
}
