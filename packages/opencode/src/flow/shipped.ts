import bugfix from "./bugfix.yaml" with { type: "text" }
import council from "./council.yaml" with { type: "text" }
import feature from "./feature.yaml" with { type: "text" }
import review from "./review.yaml" with { type: "text" }

/** The flows that come with the product. A file of the same name in the project is taken instead. */
export const SHIPPED_FLOWS: Readonly<Record<string, string>> = { review, feature, bugfix, council }
