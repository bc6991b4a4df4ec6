import type { PromptReply } from '../mcp/content/content.ts'
import type { Infer, InferInput } from '../mcp/schema/standard-schema.ts'
import type { CallToolResult } from '../mcp/types/tools.ts'
import type { VariablesOf } from '../mcp/uri-template/template.ts'
import type { Context } from './context.ts'
import type { InputRequired } from './input/input-required.ts'

/** What a schema returns; nothing without a schema. */
type Given<S> = [S] extends [never] ? Readonly<Record<string, never>> : Infer<S>

/** The schema that is a member of a definition. */
type SchemaIn<D, Member extends string> = D extends { readonly [M in Member]: infer S } ? S : never

/**
 * Any type of result `R` but those that cannot be sent, by themselves, in a union or in a promise: JSON has
 * neither functions, nor classes, nor collections, nor integers of any size.
 */
type Sendable<R> =
  unknown extends Awaited<R>
    ? R
    : [
          Extract<
            Awaited<R>,
            | ((...args: never) => unknown)
            | (abstract new (
                ...args: never
              ) => unknown)
            | symbol
            | bigint
            | AsyncIterable<unknown>
            | { readonly size: number; has(value: never): boolean; forEach(each: never): void }
            | { readonly buffer: ArrayBufferLike; readonly byteLength: number }
          >,
        ] extends [never]
      ? R
      : 'A tool cannot return this: JSON has no functions, classes, symbols, bigints, bytes, streams, maps or sets.'

/**
 * The handler of a tool with the definition `D`, typed by its schemas: `ToolHandler<typeof definition>`. `R`
 * is what it returns, for tools without an output schema: anything that can be sent.
 */
export type ToolHandler<D, R = unknown, Env = unknown> = SchemaHandler<
  SchemaIn<D, 'input'>,
  SchemaIn<D, 'output'>,
  R,
  Env
>

/**
 * The handler of a tool with the schemas `I` and `O`, each of which is `never` where there is none. With an
 * output schema it returns a value that fits it, or a whole result; without one, anything that can be sent.
 */
// One function type per case, because the compiler then knows what is returned while it checks the handler.
export type SchemaHandler<I, O, R = unknown, Env = unknown> = [O] extends [never]
  ? (input: Given<I>, context: Context<Env>) => Sendable<R>
  : (
      input: Given<I>,
      context: Context<Env>,
    ) =>
      | InferInput<O>
      | CallToolResult<InferInput<O>>
      | InputRequired
      | Promise<InferInput<O> | CallToolResult<InferInput<O>> | InputRequired>

/** The handler of a prompt with the definition `D`. Returns a text, messages, or a whole result. */
export type PromptHandler<D, Env = unknown> = ArgumentsHandler<SchemaIn<D, 'args'>, Env>

/** The handler of a prompt with the schema `A`, which is `never` where there is none. */
export type ArgumentsHandler<A, Env = unknown> = (
  args: Given<A>,
  context: Context<Env>,
) => PromptReply | InputRequired | Promise<PromptReply | InputRequired>

/** The context of the handler of a resource. */
export type ResourceContext<Env = unknown> = Context<Env> & {
  /** The URI that is read. */
  readonly uri: string
}

/** Reads one resource. Returns undefined or null where it does not exist. */
export type ResourceHandler<Env = unknown> = (context: ResourceContext<Env>) => unknown

/** Reads one resource of a template, whose variables are typed by the template. */
export type TemplateHandler<T extends string, Env = unknown> = (
  variables: Variables<T>,
  context: ResourceContext<Env>,
) => unknown

/** The variables of a template; of one that the compiler does not know, strings under any name. */
type Variables<T extends string> = string extends T
  ? Readonly<Record<string, string>>
  : VariablesOf<T>
