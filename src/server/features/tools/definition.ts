import type { Caller } from '../../../mcp/caller.ts'
import type { LocalizedText } from '../../../mcp/content/localized.ts'
import { headerAnnotations } from '../../../mcp/param-headers/annotations.ts'
import type { MirroredArguments } from '../../../mcp/param-headers/compare.ts'
import { type Compiled, compileSchema } from '../../../mcp/schema/schema.ts'
import type { Infer, Schema } from '../../../mcp/schema/standard-schema.ts'
import type { Icon, JsonSchema, Members } from '../../../mcp/types/base.ts'
import type { Content } from '../../../mcp/types/content.ts'
import type { Tool, ToolAnnotations } from '../../../mcp/types/tools.ts'
import type { OptionTableOf } from '../../../util/options.ts'
import type { Context } from '../../context.ts'
import type { AccessRule } from '../access.ts'
import { commonMembers, type FaultyDefinition } from '../definition-members.ts'
import type { InputFault, OutputFault } from '../schema-faults.ts'
import { type DefinedTexts, defaultTexts } from '../translations.ts'

/**
 * The definition of a tool, besides its name and its handler. `Env` is the type of what the option
 * `context` of the server returns; `I` and `O` are the schemas of its arguments and of its result.
 */
export interface ToolDefinition<
  Env = unknown,
  I extends Schema = Schema,
  O extends Schema = Schema,
> {
  /** The display name, for people. */
  readonly title?: LocalizedText
  /** What the tool does and when to use it, for the model. */
  readonly description?: LocalizedText
  /** The version of the tool, which clients get in `_meta` as `trunkline/version`. */
  readonly version?: string
  /**
   * Marks the tool as deprecated, and says what to use instead. It is still listed and can be called: its
   * description ends with the text, and clients get it in `_meta` as `trunkline/deprecated`.
   */
  readonly deprecated?: string
  /** The schema of its arguments; without it the tool takes none. */
  readonly input?: I
  /** The schema of its structured result; without it the tool returns text and content. */
  readonly output?: O
  /**
   * Makes the text that stands beside the structured content, which is its JSON by default. Needs `output`;
   * gets the value that the schema returned.
   */
  readonly text?: StructuredText<O>
  /** Hints about effects, such as `readOnlyHint`, which hosts show to users. */
  readonly annotations?: ToolAnnotations
  /** Icons for the user interface of hosts. */
  readonly icons?: readonly Icon[]
  /** Whether it may run as a task. For callers that do not support tasks it runs as a plain call. */
  readonly task?: 'forbidden' | 'optional' | 'required'
  /**
   * When a call becomes a task, in revisions where the server decides: at once, or when the handler calls
   * `ctx.beginTask()`. Before that call the handler may send requests to the client, or return a result
   * without a task.
   */
  readonly taskStart?: 'at-once' | 'in-handler'
  /** Metadata that clients get as `_meta`. */
  readonly meta?: Members
  /**
   * Decides which callers see the tool: it is neither listed for the others nor can they call it, as if it
   * did not exist. Returns at once; what it throws hides the tool. Without it every caller sees the tool.
   */
  visible?(caller: Caller, env: Env): boolean
  /** What the principal of a caller needs: scopes, roles. Without it every caller may use the tool. */
  readonly auth?: AccessRule
}

/** What a tool shows as its text: a text, or content blocks. */
export type ToolText = string | Content | readonly (string | Content)[]

/** Makes the text of a structured result. */
export type StructuredText<O> = [O] extends [never]
  ? '"text" needs "output": it shows the structured content.'
  : (structured: Infer<O>) => ToolText

/**
 * The definition of a tool with the schemas `I` and `O`, each of which is `never` where there is none. For a
 * schema that no tool can have, the compiler shows what is wrong with it.
 */
export type CheckedTool<I extends Schema, O extends Schema, Env = unknown> =
  unknown extends InputFault<I>
    ? unknown extends OutputFault<O>
      ? ToolDefinition<Env, I, O>
      : FaultyDefinition<'output', OutputFault<O>>
    : FaultyDefinition<'input', InputFault<I>>

/** A tool definition as it is stored. */
export interface StoredTool extends Omit<ToolDefinition, 'text'> {
  readonly text?: (structured: unknown) => ToolText
}

/** The members of a tool definition, for validation. A schema can be an object or a function. */
export const toolTable: OptionTableOf<StoredTool> = {
  ...commonMembers,
  version: 'string',
  deprecated: 'string',
  input: 'any',
  output: 'any',
  text: 'function',
  annotations: 'object',
  task: ['forbidden', 'optional', 'required'],
  taskStart: ['at-once', 'in-handler'],
}

/** The handler of a tool, after its types were checked where it was registered. */
export type ToolCode = (input: unknown, context: Context) => unknown

/** A registered tool. */
export interface RegisteredTool {
  readonly name: string
  readonly definition: StoredTool
  readonly code: ToolCode
  readonly input: Compiled<unknown>
  readonly output: Compiled<unknown> | undefined
  /** The arguments that HTTP requests repeat as headers; undefined where there are none. */
  readonly mirrored: MirroredArguments | undefined
  readonly tool: Tool
  readonly texts: DefinedTexts
}

/** Makes the entry of a tool. Throws a TypeError or a SchemaError for an invalid definition. */
export function registeredTool(
  name: string,
  definition: StoredTool,
  code: ToolCode,
): RegisteredTool {
  if (definition.text !== undefined && definition.output === undefined) {
    throw new TypeError(`tool "${name}": "text" needs "output": it shows the structured content`)
  }
  const input = compileSchema(definition.input, { what: `tool "${name}" input` })
  const headers = headerAnnotations(input.jsonSchema)
  if (!headers.ok) throw new TypeError(`tool "${name}" input: ${headers.why}`)
  const output =
    definition.output === undefined
      ? undefined
      : compileSchema(definition.output, { what: `tool "${name}" output`, side: 'output' })
  const { annotations, icons, task } = definition
  const texts = listedTexts(definition)
  const tool: Tool = {
    name,
    ...defaultTexts(`tool "${name}"`, texts),
    inputSchema: input.jsonSchema as Tool['inputSchema'],
    outputSchema: output?.jsonSchema as JsonSchema | undefined,
    annotations,
    icons,
    execution: task === undefined ? undefined : { taskSupport: task },
    _meta: metaOf(definition),
  }
  const mirrored = headers.headers.size === 0 ? undefined : headers.headers
  return { name, definition, code, input, output, mirrored, tool, texts }
}

/** The texts of a tool as lists show them: the description of a deprecated tool says so. */
function listedTexts({ title, description, deprecated }: StoredTool): DefinedTexts {
  if (deprecated === undefined) return { title, description }
  const note = `Deprecated: ${deprecated}`
  const noted = (text: string): string => (text === '' ? note : `${text}\n\n${note}`)
  return {
    title,
    description:
      typeof description === 'object'
        ? Object.fromEntries(Object.entries(description).map(([key, text]) => [key, noted(text)]))
        : noted(description ?? ''),
  }
}

function metaOf({ meta, version, deprecated }: StoredTool): Members | undefined {
  if (version === undefined && deprecated === undefined) return meta
  return {
    ...meta,
    ...(version !== undefined && { 'trunkline/version': version }),
    ...(deprecated !== undefined && { 'trunkline/deprecated': deprecated }),
  }
}
