import type { PromptReply } from '../mcp/content/content.ts'
import type { Infer, InferInput } from '../mcp/schema/standard-schema.ts'
import type { CallToolResult } from '../mcp/types/tools.ts'
import type { VariablesOf } from '../mcp/uri-template/template.ts'
import type { Context } from './context.ts'
import type { InputRequired } from './input/input-required.ts'

type Awaitable<T> = T | Promise<T>

/** The arguments that the schema of a definition accepts; none without a schema. */
type Input<D, Member extends string> = D extends { readonly [M in Member]: infer S }
  ? Infer<S>
  : Readonly<Record<string, never>>

/** What cannot be sent: JSON has neither functions, nor classes, nor symbols. */
type Unsendable =
  | ((...args: never) => unknown)
  | (abstract new (
      ...args: never
    ) => unknown)
  | symbol

/** Any type of result `R` but those that cannot be sent, by themselves, in a union or in a promise. */
type Sendable<R> =
  unknown extends Awaited<R>
    ? R
    : [Extract<Awaited<R>, Unsendable>] extends [never]
      ? R
      : 'A tool cannot return a function, a class or a symbol: JSON has none of them.'

/** What a handler returns that has an output schema: a value that fits it, or a whole result. */
type Output<S> = Awaitable<InferInput<S> | CallToolResult<InferInput<S>> | InputRequired>

/**
 * The handler of a tool, typed by the schemas of its definition. `R` is what it returns, for tools
 * without an output schema: anything that can be sent.
 */
// One function type per case, because the compiler then knows what is returned while it checks the handler.
export type ToolHandler<D, R = unknown, Env = unknown> = D extends { readonly output: infer S }
  ? (input: Input<D, 'input'>, context: Context<Env>) => Output<S>
  : (input: Input<D, 'input'>, context: Context<Env>) => Sendable<R>

/** The handler of a prompt. Returns a text, messages, or a whole result. */
export type PromptHandler<D, Env = unknown> = (
  args: Input<D, 'args'>,
  context: Context<Env>,
) => Awaitable<PromptReply | InputRequired>

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
