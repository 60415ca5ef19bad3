import { sentence, type Refusal } from "../pass-over/domain/errors"

/** A refusal is something that the model should read and act on, so it is returned as text and never thrown. */
export const refusalText = (refusal: Refusal) => `Not done. ${sentence(refusal)}`
