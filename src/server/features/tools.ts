import { invalidParams, RpcError } from '../../jsonrpc/error.ts'
import { errorResult, toolResult } from '../../mcp/content.ts'
import { contentFault, listFault } from '../../mcp/content-check.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { checkName, nameWarning } from '../../mcp/names.ts'
import { headerAnnotations } from '../../mcp/param-headers/annotations.ts'
import type { MirroredArguments } from '../../mcp/param-headers/compare.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import { callResultFor, toolFor } from '../../mcp/revisions/shape.ts'
import { type Checked, issueText } from '../../mcp/schema/issues.ts'
import { type Compiled, compileSchema } from '../../mcp/schema/schema.ts'
import type { Schema } from '../../mcp/schema/standard-schema.ts'
import type { Icon, JsonSchema, Members } from '../../mcp/types/base.ts'
import type { CallToolResult, Tool, ToolAnnotations } from '../../mcp/types/tools.ts'
import { fromThenable } from '../../util/promises.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { Warning } from '../../util/warning.ts'
import { Context } from '../context.ts'
import { isInputRequired, runWithInput } from '../input/input-required.ts'
import {
  checkHeaders,
  type HandlerResult,
  type IncomingRequest,
  objectParam,
  stringParam,
  whenReady,
} from '../request.ts'
import { type ExecutionMode, executionMode } from '../tasks/mode.ts'
import type { Tasks } from '../tasks/tasks.ts'
import { pageOf } from './pagination.ts'
import { type FeatureHost, FeatureSet, type Registration } from './registry.ts'

/** The definition of a tool, besides its name and its handler. */
export interface ToolDefinition {
  /** The display name, for people. */
  readonly title?: string
  /** What the tool does and when to use it, for the model. */
  readonly description?: string
  /** The schema of its arguments; without it the tool takes none. */
  readonly input?: Schema
  /** The schema of its structured result; without it the tool returns text and content. */
  readonly output?: Schema
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
}

/** The handler of a tool, after its types were checked where it was registered. */
export type ToolCode = (input: unknown, context: Context) => unknown

interface ToolEntry {
  readonly name: string
  readonly definition: ToolDefinition
  readonly code: ToolCode
  readonly input: Compiled<unknown>
  readonly output: Compiled<unknown> | undefined
  /** The arguments that HTTP requests repeat as headers; undefined where there are none. */
  readonly mirrored: MirroredArguments | undefined
  readonly tool: Tool
}

/** What tools need from their endpoint. */
export interface ToolsHost extends FeatureHost {
  readonly tasks: Tasks
  /** The longest description of a tool, in characters. */
  readonly maxToolDescription: number
  /** Reports an error to the author, with the request that it is about, if any. */
  onError(error: unknown, request?: IncomingRequest): void
}

/** The tools of a server. Answers `tools/list` and `tools/call`. */
export class Tools {
  readonly #host: ToolsHost
  readonly #set: FeatureSet<ToolDefinition, ToolEntry>
  /** The encoded list of each revision, until something changes. */
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

  /** Whether any tool ever supported tasks: its tasks may outlive the registration. */
  get usesTasks(): boolean {
    return this.#usesTasks
  }

  register(name: string, definition: ToolDefinition, code: ToolCode): Registration<ToolDefinition> {
    const problem = checkName(name, 'tool')
    if (problem !== undefined) throw new TypeError(problem)
    const registered = this.#set.add(name, name, definition, made => {
      this.#checkDescription(name, made)
      const entry = entryOf(name, made, code)
      if (made.task !== undefined && made.task !== 'forbidden') this.#usesTasks = true
      return entry
    })
    const warning = nameWarning(name)
    if (warning !== undefined) this.#host.onError(new Warning(warning))
    return registered
  }

  /** Throws an RpcError, which the caller of `tool` or `update` gets. */
  #checkDescription(name: string, { description = '' }: ToolDefinition): void {
    const maxSize = this.#host.maxToolDescription
    const actualSize = description.length
    if (actualSize <= maxSize) return
    throw errors.toolDescriptionTooLong(
      { actualSize, maxSize },
      { message: `tool "${name}": the description is longer than ${maxSize} characters` },
    )
  }

  list({ caller, params }: IncomingRequest): HandlerResult {
    const all = this.#listFor(caller.revision)
    const { cursors, pageSize } = this.#host
    const page = pageOf(all, 'tools', params, cursors, pageSize, this.#set.positions())
    return whenReady(page, ({ items, nextCursor }) =>
      nextCursor === undefined ? { tools: items } : { tools: items, nextCursor },
    )
  }

  call(request: IncomingRequest): HandlerResult {
    const name = stringParam(request.params, 'name')
    const entry = this.#set.get(name)
    if (entry === undefined) throw errors.toolNotFound({ tool: name })
    if (entry.mirrored !== undefined) checkHeaders(entry.mirrored, request)
    const mode = isPlain(entry, request) ? 'plain' : this.#executionMode(entry, request)
    const given = objectParam(request.params, 'arguments')
    const checked = entry.input.check(given)
    return checked instanceof Promise
      ? checked.then(outcome => this.#checked(entry, request, outcome, mode))
      : this.#checked(entry, request, checked, mode)
  }

  #checked(
    entry: ToolEntry,
    request: IncomingRequest,
    outcome: Checked<unknown>,
    mode: ExecutionMode,
  ): HandlerResult {
    if (mode !== 'plain') return this.#runAsTask(entry, request, outcome, mode)
    if (!outcome.ok) return { ...badArguments(entry, request, issueText(outcome.issues)) }
    return this.#run(entry, request, outcome.value)
  }

  #executionMode({ definition, name }: ToolEntry, request: IncomingRequest): ExecutionMode {
    return executionMode(request, { ...definition, name }, this.#usesTasks)
  }

  #runAsTask(
    entry: ToolEntry,
    request: IncomingRequest,
    outcome: Checked<unknown>,
    mode: 'task' | 'deferred',
  ): HandlerResult {
    const { tasks } = this.#host
    const work = (working: IncomingRequest): HandlerResult =>
      outcome.ok
        ? this.#run(entry, working, outcome.value)
        : { ...badArguments(entry, working, issueText(outcome.issues)) }
    if (mode === 'deferred') return tasks.deferTask(request, entry.name, work)
    // Only a caller that has not requested a task may be answered without one.
    const isRequested = request.caller.revision.features.tasks === 'core'
    if (!outcome.ok && !isRequested) return work(request)
    return isRequested || entry.definition.task === 'required'
      ? tasks.begin(request, entry.name, work)
      : tasks.beginUnlessDone(request, entry.name, work)
  }

  #run(entry: ToolEntry, request: IncomingRequest, input: unknown): HandlerResult {
    return runWithInput(request, this.#host.rounds, run => {
      let value: unknown
      try {
        value = fromThenable(entry.code(input, new Context(request, run)))
      } catch (error) {
        return failed(error, run.open.size > 0)
      }
      if (!(value instanceof Promise)) return this.#result(entry, request, value)
      return value.then(
        result => this.#result(entry, request, result),
        error => failed(error, run.open.size > 0),
      )
    }) as HandlerResult
  }

  #result(entry: ToolEntry, request: IncomingRequest, value: unknown): unknown {
    if (isInputRequired(value)) return value
    const result = this.#content(entry, request, value)
    if (entry.output === undefined || result.isError)
      return callResultFor(request.caller.revision, result)
    return whenReady(entry.output.check(result.structuredContent), outcome => {
      if (outcome.ok) return callResultFor(request.caller.revision, result)
      throw this.#invalid(entry, request, 'output', issueText(outcome.issues))
    })
  }

  #content(entry: ToolEntry, request: IncomingRequest, value: unknown): CallToolResult {
    let result: CallToolResult
    try {
      result = toolResult(value, { hasOutputSchema: entry.output !== undefined })
    } catch (error) {
      throw this.#invalid(entry, request, 'result', errorMessage(error))
    }
    const fault = listFault('content', result.content, contentFault)
    if (fault !== undefined) throw this.#invalid(entry, request, 'result', fault)
    return result
  }

  /** Reports a mistake of the handler, which the caller need not know. */
  #invalid(entry: ToolEntry, request: IncomingRequest, what: string, details: string): RpcError {
    const error = new Error(`invalid ${what} of tool "${entry.name}": ${details}`)
    // The handler has returned, so every frame is ours: they would only hide the message.
    error.stack = `Error: ${error.message}`
    this.#host.onError(error, request)
    return errors.internalError()
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

/** Whether neither the tool nor the call mentions tasks, as nearly always. */
function isPlain({ definition }: ToolEntry, { params }: IncomingRequest): boolean {
  const { task } = definition
  return (task === undefined || task === 'forbidden') && params.task === undefined
}

function badArguments(entry: ToolEntry, request: IncomingRequest, details: string): CallToolResult {
  if (request.caller.revision.features.inputErrors === 'result') {
    return errorResult(new Error(`Invalid arguments for tool "${entry.name}": ${details}`))
  }
  throw invalidParams(`Invalid arguments for tool "${entry.name}": ${details}`, {
    kind: 'invalid_tool_arguments',
    data: { tool: entry.name, details },
  })
}

/** The result of a tool that threw. Protocol errors, and the end of a run at an input request, are thrown on. */
function failed(error: unknown, awaitsInput: boolean): CallToolResult {
  if (awaitsInput || error instanceof RpcError) throw error
  return errorResult(error)
}
