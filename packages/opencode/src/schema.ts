/** What is wrong with a value, and where in it. */
interface SchemaIssue {
  readonly code?: string | undefined
  readonly path: PropertyKey[]
  readonly message: string
}

/**
 * How the schemas of this library look to those who import it; their declarations say this where the sources say zod.
 * A schema that checks a value and says its type. Underneath it is one of zod's, and it keeps to the Standard Schema
 * (https://standardschema.dev), so that whatever takes one of those takes it.
 */
export interface Schema<Output, Input = Output> {
  /** The value as it was understood. Throws where it does not fit. */
  parse(value: unknown): Output
  safeParse(
    value: unknown,
  ):
    | { success: true; data: Output; error?: never }
    | { success: false; data?: never; error: Error & { issues: SchemaIssue[] } }
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: ReadonlyArray<{
        readonly message: string
        readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
      }>
    }
