import { invalidParams, RpcError } from '../../jsonrpc/error.ts'
import { errorResult, toolResult } from '../../mcp/content.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { checkName } from '../../mcp/names.ts'
import { headerAnnotations } from '../../mcp/param-headers/annotations.ts'
import type { MirroredArguments } from '../../mcp/param-headers/compare.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import { callResultFor, toolFor } from '../../mcp/revisions/shape.ts'
import { type Checked, issueText } from '../../mcp/schema/issues.ts'
import { type Compiled, compileSchema } from '../../mcp/schema/schema.ts'
import type { Schema } from '../../mcp/schema/standard-schema.ts'
import type { Icon, JsonSchema, Members } from '../../mcp/types/base.ts'
import type { CallToolResult, Tool, ToolAnnotations } from '../../mcp/types/tools.ts'
import { promised } from '../../util/promised.ts'
import { Context } from '../context.ts'
import { checkHeaders } from '../header-check.ts'
import { isInputRequired, runAsking } from '../input/input-required.ts'
import {
  type Answer,
  objectParam,
  type Params,
  type ServerRequest,
  stringParam,
  whenReady,
} from '../request.ts'
import { type Manner, mannerOf } from '../tasks/mode.ts'
import type { Tasks } from '../tasks/tasks.ts'
import { pageOf } from './page.ts'
import { type FeatureHost, FeatureSet, type Registration } from './registry.ts'

/** What a tool is, beside its name and its code. */
export interface ToolDefinition {
  readonly title?: string
  readonly description?: string
  /** What arguments it takes; none without it. */
  readonly input?: Schema
  /** What it returns; without it, words and content. */
  readonly output?: Schema
  readonly annotations?: ToolAnnotations
  readonly icons?: readonly Icon[]
  /** Whether it may be run as a task. Where callers cannot have one, it is run as usual. */
  readonly task?: 'forbidden' | 'optional' | 'required'
  /**
   * Where the server decides what becomes a task: at once, or when its code calls `ctx.beginTask()`,
   * which may ask the caller first or do without a task.
   */
  readonly taskBegins?: 'at-once' | 'in-handler'
  readonly meta?: Members
}

/** The code of a tool, after its types have been checked where it was registered. */
export type ToolCode = (input: unknown, context: Context) => unknown

interface ToolEntry {
  readonly name: string
  readonly definition: ToolDefinition
  readonly code: ToolCode
  readonly input: Compiled<unknown>
  readonly output: Compiled<unknown> | undefined
  /** Its arguments that HTTP requests repeat as headers; undefined where there are none. */
  readonly mirrored: MirroredArguments | undefined
  readonly tool: Tool
}

/** What the tools need of their server. */
export interface ToolsHost extends FeatureHost {
  readonly tasks: Tasks
  onError(error: unknown, request: ServerRequest): void
}

/** The tools of a server: registered, listed, called. */
export class Tools {
  readonly #host: ToolsHost
  readonly #set: FeatureSet<ToolDefinition, ToolEntry>
  /** Lists as each revision says them, until something changes. */
  readonly #listed = new Map<string, readonly Tool[]>()
  #usesTasks = false

  constructor(host: ToolsHost, onChange: () => void) {
    this.#host = host
    this.#set = new FeatureSet('tool', () => {
      this.#listed.clear()
      onChange()
    })
  }

  get isUsed(): boolean {
    return this.#set.isUsed
  }

  /** Whether any of them was ever one for tasks: those may outlast it. */
  get usesTasks(): boolean {
    return this.#usesTasks
  }

  register(name: string, definition: ToolDefinition, code: ToolCode): Registration<ToolDefinition> {
    const problem = checkName(name, 'tool')
    if (problem !== undefined) throw new TypeError(problem)
    return this.#set.add(name, name, definition, made => {
      const entry = entryOf(name, made, code)
      if (made.task !== undefined && made.task !== 'forbidden') this.#usesTasks = true
      return entry
    })
  }

  list({ caller, params }: ServerRequest): Params {
    const all = this.#listFor(caller.revision)
    const { items, nextCursor } = pageOf(
      all,
      'tools',
      params,
      this.#host.cursors,
      this.#host.pageSize,
      this.#set.places(),
    )
    return nextCursor === undefined ? { tools: items } : { tools: items, nextCursor }
  }

  call(request: ServerRequest): Answer {
    const name = stringParam(request.params, 'name')
    const entry = this.#set.get(name)
    if (entry === undefined) throw errors.toolNotFound({ tool: name })
    if (entry.mirrored !== undefined) checkHeaders(entry.mirrored, request)
    const manner = isPlain(entry, request) ? 'plain' : this.#mannerOf(entry, request)
    const given = objectParam(request.params, 'arguments')
    const checked = entry.input.check(given)
    return checked instanceof Promise
      ? checked.then(outcome => this.#checked(entry, request, outcome, manner))
      : this.#checked(entry, request, checked, manner)
  }

  #checked(
    entry: ToolEntry,
    request: ServerRequest,
    outcome: Checked<unknown>,
    manner: Manner,
  ): Answer {
    if (manner !== 'plain') return this.#runAsTask(entry, request, outcome, manner)
    if (!outcome.ok) return { ...badArguments(entry, request, issueText(outcome.issues)) }
    return this.#run(entry, request, outcome.value)
  }

  #mannerOf({ definition, name }: ToolEntry, request: ServerRequest): Manner {
    return mannerOf(request, { ...definition, name }, this.#usesTasks)
  }

  #runAsTask(
    entry: ToolEntry,
    request: ServerRequest,
    outcome: Checked<unknown>,
    manner: 'task' | 'later',
  ): Answer {
    const { tasks } = this.#host
    const work = (working: ServerRequest): Answer =>
      outcome.ok
        ? this.#run(entry, working, outcome.value)
        : { ...badArguments(entry, working, issueText(outcome.issues)) }
    if (manner === 'later') return tasks.beginLater(request, entry.name, work)
    // Only who has not asked for a task may be answered without one.
    const isAsked = request.caller.revision.features.tasks === 'core'
    return outcome.ok || isAsked ? tasks.begin(request, entry.name, work) : work(request)
  }

  #run(entry: ToolEntry, request: ServerRequest, input: unknown): Answer {
    return runAsking(request, this.#host.rounds, asking => {
      let value: unknown
      try {
        value = promised(entry.code(input, new Context(request, asking)))
      } catch (error) {
        return failed(error, asking.open.size > 0)
      }
      if (!(value instanceof Promise)) return this.#result(entry, request, value)
      return value.then(
        result => this.#result(entry, request, result),
        error => failed(error, asking.open.size > 0),
      )
    }) as Answer
  }

  #result(entry: ToolEntry, request: ServerRequest, value: unknown): unknown {
    if (isInputRequired(value)) return value
    const result = toolResult(value, { hasOutputSchema: entry.output !== undefined })
    if (entry.output === undefined || result.isError)
      return callResultFor(request.caller.revision, result)
    return whenReady(entry.output.check(result.structuredContent), outcome => {
      if (outcome.ok) return callResultFor(request.caller.revision, result)
      const words = issueText(outcome.issues)
      this.#host.onError(
        new Error(`the output of tool "${entry.name}" is wrong: ${words}`),
        request,
      )
      throw errors.internalError()
    })
  }

  #listFor(revision: Revision): readonly Tool[] {
    let listed = this.#listed.get(revision.name)
    if (listed === undefined) {
      listed = this.#set.list().map(entry => toolFor(revision, entry.tool))
      this.#listed.set(revision.name, listed)
    }
    return listed
  }
}

function entryOf(name: string, definition: ToolDefinition, code: ToolCode): ToolEntry {
  const input = compileSchema(definition.input, { what: `tool "${name}" input` })
  const headers = headerAnnotations(input.jsonSchema)
  if (!headers.ok) throw new TypeError(`tool "${name}" input: ${headers.why}`)
  const output =
    definition.output === undefined
      ? undefined
      : compileSchema(definition.output, { what: `tool "${name}" output`, side: 'output' })
  const { title, description, annotations, icons, task, meta } = definition
  const tool: Tool = {
    name,
    title,
    description,
    inputSchema: input.jsonSchema as Tool['inputSchema'],
    outputSchema: output?.jsonSchema as JsonSchema | undefined,
    annotations,
    icons,
    execution: task === undefined ? undefined : { taskSupport: task },
    _meta: meta,
  }
  const mirrored = headers.headers.size === 0 ? undefined : headers.headers
  return { name, definition, code, input, output, mirrored, tool }
}

/** Whether nobody has ever thought of a task, as with nearly every call. */
function isPlain({ definition }: ToolEntry, { params }: ServerRequest): boolean {
  const { task } = definition
  return (task === undefined || task === 'forbidden') && params.task === undefined
}

function badArguments(entry: ToolEntry, request: ServerRequest, details: string): CallToolResult {
  if (request.caller.revision.features.inputErrors === 'result') {
    return errorResult(new Error(`Invalid arguments for tool "${entry.name}": ${details}`))
  }
  throw invalidParams(`Invalid arguments for tool "${entry.name}": ${details}`, {
    kind: 'invalid_tool_arguments',
    data: { tool: entry.name, details },
  })
}

/** A tool that fails gives a result all the same; only protocol errors and open questions pass. */
function failed(error: unknown, isAsking: boolean): CallToolResult {
  if (isAsking || error instanceof RpcError) throw error
  return errorResult(error)
}
