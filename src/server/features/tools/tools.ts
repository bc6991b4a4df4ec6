import { errors } from '../../../mcp/errors/constructors.ts'
import { checkName, nameWarning } from '../../../mcp/names.ts'
import type { Revision } from '../../../mcp/revisions/revisions.ts'
import { toolFor } from '../../../mcp/revisions/shape.ts'
import { type Checked, issueText } from '../../../mcp/schema/issues.ts'
import type { Tool } from '../../../mcp/types/tools.ts'
import { fromThenable } from '../../../util/promises.ts'
import { Warning } from '../../../util/warning.ts'
import { Context } from '../../context.ts'
import type { Scope } from '../../core/request-scope.ts'
import { runWithInput } from '../../input/input-required.ts'
import {
  checkHeaders,
  type HandlerResult,
  type IncomingRequest,
  objectParam,
  stringParam,
} from '../../request.ts'
import { type ExecutionMode, executionMode } from '../../tasks/mode.ts'
import type { Tasks } from '../../tasks/tasks.ts'
import { checkRegistration } from '../../validate.ts'
import { checkPublicList, type ListHost, listPage } from '../lists.ts'
import {
  byName,
  type CallerView,
  type FeatureEntry,
  FeatureSet,
  type Registration,
  runEntry,
} from '../registry.ts'
import { translator } from '../translations.ts'
import {
  type RegisteredTool,
  registeredTool,
  type StoredTool,
  type ToolCode,
  toolTable,
} from './definition.ts'
import { badArguments, failed, resultOf } from './result.ts'

/** What tools need from their endpoint. */
export interface ToolsHost extends ListHost {
  readonly tasks: Tasks
  /** The longest description of a tool, in characters. */
  readonly maxToolDescription: number
}

/** The tools of a server. Answers `tools/list` and `tools/call`. */
export class Tools {
  readonly #host: ToolsHost
  readonly #set: FeatureSet<StoredTool, RegisteredTool>
  readonly #mounted = new Set<Tools>()
  /** The encoded list of each revision, until something changes. */
  readonly #listed = new Map<string, readonly Tool[]>()
  #usesTasks = false

  constructor(host: ToolsHost, onChange: () => void) {
    this.#host = host
    const onListChange = (): void => {
      this.#listed.clear()
      onChange()
    }
    this.#set = new FeatureSet('tool', onListChange, host.onError)
  }

  /** Whether callers may see different lists. */
  get isPersonal(): boolean {
    return this.#set.isPersonal
  }

  get isUsed(): boolean {
    return this.#set.isUsed
  }

  /** Whether any tool ever supported tasks: its tasks may outlive the registration. */
  get usesTasks(): boolean {
    return this.#usesTasks || [...this.#mounted].some(tools => tools.usesTasks)
  }

  register(
    name: string,
    definition: StoredTool,
    code: ToolCode,
  ): Registration<StoredTool, ToolCode> {
    const problem = checkName(name, 'tool')
    if (problem !== undefined) throw new TypeError(problem)
    const make = (made: StoredTool, current: ToolCode): RegisteredTool => {
      checkRegistration(`tool "${name}"`, made, current, toolTable)
      this.#checkDescription(name, made)
      checkPublicList(`tool "${name}"`, made, this.#host.publicLists.has('tools/list'))
      const entry = registeredTool(name, made, current)
      if (made.task !== undefined && made.task !== 'forbidden') this.#usesTasks = true
      return entry
    }
    const registered = this.#set.add(name, name, definition, make, code)
    const warning = nameWarning(name)
    if (warning !== undefined) this.#host.onError(new Warning(warning))
    return registered
  }

  /** Throws a TypeError if a tool of another server would have a name that is taken. */
  checkMount(other: Tools, prefix: string): void {
    this.#set.checkMount(other.#set, name => prefix + name)
  }

  /** Shows the tools of a mounted server. Returns a function that removes them. */
  mount(other: Tools, scope: Scope, prefix: string): () => void {
    const unmount = this.#set.mount(other.#set, {
      scope,
      keyOf: name => prefix + name,
      rename: (entry, name) => ({ ...entry, name, tool: { ...entry.tool, name } }),
    })
    this.#mounted.add(other)
    return () => {
      this.#mounted.delete(other)
      unmount()
    }
  }

  /** Throws an RpcError, which the caller of `tool` or `update` gets. */
  #checkDescription(name: string, { description = '' }: StoredTool): void {
    const maxSize = this.#host.maxToolDescription
    const texts = typeof description === 'string' ? [description] : Object.values(description)
    const actualSize = Math.max(...texts.map(text => text.length))
    if (actualSize <= maxSize) return
    throw errors.toolDescriptionTooLong(
      { actualSize, maxSize },
      { message: `tool "${name}": the description is longer than ${maxSize} characters` },
    )
  }

  list(request: IncomingRequest): HandlerResult {
    const { revision } = request.caller
    return listPage(request, this.#host, this.#set.view(request), 'tools', view => {
      if (!view.isFiltered && !view.isTranslated) return this.#listFor(revision, view)
      const translate = translator(request)
      return view.items.map(({ tool, texts }) => toolFor(revision, translate(tool, texts)))
    })
  }

  call(request: IncomingRequest): HandlerResult {
    const name = stringParam(request.params, 'name')
    const found = this.#set.find(name, request)
    return found instanceof Promise
      ? found.then(entry => this.#callFound(name, entry, request))
      : this.#callFound(name, found, request)
  }

  #callFound(
    name: string,
    found: FeatureEntry<RegisteredTool> | undefined,
    request: IncomingRequest,
  ): HandlerResult {
    if (found === undefined) throw errors.toolNotFound({ tool: name })
    const { value, mount, definition } = found
    if (mount === undefined && definition.auth === undefined) return this.#call(value, request)
    return runEntry(found, request, byName, inner => this.#call(value, inner))
  }

  #call(entry: RegisteredTool, request: IncomingRequest): HandlerResult {
    if (entry.mirrored !== undefined) checkHeaders(entry.mirrored, request)
    const mode = isPlain(entry, request) ? 'plain' : this.#executionMode(entry, request)
    const given = objectParam(request.params, 'arguments')
    const checked = entry.input.check(given)
    return checked instanceof Promise
      ? checked.then(outcome => this.#checked(entry, request, outcome, mode))
      : this.#checked(entry, request, checked, mode)
  }

  #checked(
    entry: RegisteredTool,
    request: IncomingRequest,
    outcome: Checked<unknown>,
    mode: ExecutionMode,
  ): HandlerResult {
    if (mode !== 'plain') return this.#runAsTask(entry, request, outcome, mode)
    if (!outcome.ok) return { ...badArguments(entry, request, issueText(outcome.issues)) }
    return this.#run(entry, request, outcome.value)
  }

  #executionMode({ definition, name }: RegisteredTool, request: IncomingRequest): ExecutionMode {
    return executionMode(request, { ...definition, name }, this.usesTasks)
  }

  #runAsTask(
    entry: RegisteredTool,
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

  #run(entry: RegisteredTool, request: IncomingRequest, input: unknown): HandlerResult {
    const { onError } = this.#host
    return runWithInput(request, this.#host.rounds, run => {
      let value: unknown
      try {
        value = fromThenable(entry.code(input, new Context(request, run)))
      } catch (error) {
        return failed(error, run.open.size > 0)
      }
      if (!(value instanceof Promise)) return resultOf(entry, request, value, onError)
      return value.then(
        result => resultOf(entry, request, result, onError),
        error => failed(error, run.open.size > 0),
      )
    }) as HandlerResult
  }

  #listFor(revision: Revision, { items }: CallerView<RegisteredTool>): readonly Tool[] {
    let listed = this.#listed.get(revision.name)
    if (listed === undefined) {
      listed = items.map(entry => toolFor(revision, entry.tool))
      this.#listed.set(revision.name, listed)
    }
    return listed
  }
}

/** Whether neither the tool nor the call mentions tasks, as nearly always. */
function isPlain({ definition }: RegisteredTool, { params }: IncomingRequest): boolean {
  const { task } = definition
  return (task === undefined || task === 'forbidden') && params.task === undefined
}
