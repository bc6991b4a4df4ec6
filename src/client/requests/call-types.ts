import type { Infer, Schema } from '../../mcp/schema/standard-schema.ts'

/** The types of one tool of a server. */
export interface ToolTypes {
  /** The type of its arguments. */
  readonly input: object
  /** The type of its structured content; `unknown` if it has no output schema. */
  readonly output: unknown
}

/** The tools of a server that the compiler knows nothing about: any name, any arguments. */
export type AnyTools = Readonly<Record<string, ToolTypes>>

/** The prompts of a server that the compiler knows nothing about: any name, any arguments. */
export type AnyPrompts = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The type of the arguments of one tool. */
export type InputOf<Types> = Types extends { readonly input: infer Input } ? Input : object

/** The type of the structured content of one tool. */
export type OutputOf<Types> = Types extends { readonly output: infer Output } ? Output : unknown

/** What follows the name in a call: arguments and options. Arguments may be left out if none is required. */
export type ArgumentsAnd<Args, Options> =
  Record<never, never> extends Args
    ? [args?: Args, options?: Options]
    : [args: Args, options?: Options]

/** The type of the structured content: by the schema of the caller, or else what is known of the tool. */
export type Structured<S, Known = unknown> = S extends Schema ? Infer<S> : Known
