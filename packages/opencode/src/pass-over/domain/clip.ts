/**
 * As much of a text as there is room for, with a mark where something was cut. A pair of surrogates that the cut went
 * through would make the whole text one that no provider takes.
 */
export const clip = (text: string, most: number) =>
  text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1)).toWellFormed()}…`

/** The same from the end. */
export const clipStart = (text: string, most: number) =>
  text.length <= most ? text : `…${text.slice(text.length - Math.max(0, most - 1)).toWellFormed()}`
