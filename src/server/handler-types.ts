import type { PromptReply } from '../mcp/content.ts'
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

/** With an output schema a handler returns a value that fits it; without one, anything that can be sent. */
type Output<D, R> = D extends { readonly output: infer S }
  ? Awaitable<InferInput<S> | CallToolResult | InputRequired>
  : Sendable<R>

/**
 * The handler of a tool, typed by the schemas of its definition. `R` is what it returns, for tools
 * without an output schema.
 */
export type ToolHandler<D, R = unknown> = (
  input: Input<D, 'input'>,
  context: Context,
) => Output<D, R>

/** The handler of a prompt. Returns a text, messages, or a whole result. */
export type PromptHandler<D> = (
  args: Input<D, 'args'>,
  context: Context,
) => Awaitable<PromptReply | InputRequired>

/** Reads one resource. Returns undefined or null where it does not exist. */
export type ResourceHandler = (context: Context) => unknown

/** Reads one resource of a template, whose variables are typed by the template. */
export type TemplateHandler<T extends string> = (
  variables: VariablesOf<T>,
  context: Context,
) => unknown
