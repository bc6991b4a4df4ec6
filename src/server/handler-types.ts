import type { PromptReply } from '../mcp/content.ts'
import type { Infer, InferInput } from '../mcp/schema/standard-schema.ts'
import type { CallToolResult } from '../mcp/types/tools.ts'
import type { VariablesOf } from '../mcp/uri-template/template.ts'
import type { Context } from './context.ts'
import type { InputRequired } from './input/input-required.ts'

type Awaitable<T> = T | Promise<T>

/** The arguments a definition's schema lets through; none without one. */
type Input<D, Member extends string> = D extends { readonly [M in Member]: infer S }
  ? Infer<S>
  : Readonly<Record<string, never>>

/** With an output schema a handler returns what fits it; without one, anything. */
type Output<D> = D extends { readonly output: infer S }
  ? InferInput<S> | CallToolResult | InputRequired
  : unknown

/** The code of a tool: typed by the schemas of its definition. */
export type ToolHandler<D> = (input: Input<D, 'input'>, context: Context) => Awaitable<Output<D>>

/** The code of a prompt: a text, messages, or a whole result. */
export type PromptHandler<D> = (
  args: Input<D, 'args'>,
  context: Context,
) => Awaitable<PromptReply | InputRequired>

/** Reads one resource; undefined or null says that it is not there. */
export type ResourceHandler = (context: Context) => unknown

/** Reads one of a family: its variables are typed by the template. */
export type TemplateHandler<T extends string> = (
  variables: VariablesOf<T>,
  context: Context,
) => unknown
