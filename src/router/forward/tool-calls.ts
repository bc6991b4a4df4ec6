import { parseRaw } from '../../jsonrpc/codec/raw-json.ts'
import type { Caller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { MirroredArguments } from '../../mcp/param-headers/compare.ts'
import type { CallSpan } from '../../observe/call.ts'
import type { AvailableFeatures, ProviderHost } from '../../server/features/feature-provider.ts'
import {
  checkHeaders,
  type HandlerResult,
  type IncomingRequest,
  stringParam,
} from '../../server/request.ts'
import { executionMode } from '../../server/tasks/mode.ts'
import type { Guard } from '../access/guard.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { ToolEntry } from '../catalog/entries.ts'
import type { PersonalCatalogs } from '../catalog/personal-catalogs.ts'
import type { ToolSearch } from '../views/tool-search.ts'
import type { View } from '../views/view.ts'
import type { Finder } from './finder.ts'
import { type ForwardContext, forward } from './forward.ts'
import { whenListed } from './starting.ts'
import { UpstreamCall } from './upstream-call.ts'

/** Calls tools of upstream servers: at once or as tasks, by their names or by tool search. */
export class ToolCalls {
  readonly #server: ProviderHost
  readonly #context: ForwardContext
  readonly #available: AvailableFeatures
  readonly #viewOf: (caller: Caller) => View
  readonly #finder: Finder
  readonly #personal: PersonalCatalogs
  readonly #guard: Guard

  constructor(
    server: ProviderHost,
    context: ForwardContext,
    available: AvailableFeatures,
    viewOf: (caller: Caller) => View,
    finder: Finder,
    personal: PersonalCatalogs,
    guard: Guard,
  ) {
    this.#server = server
    this.#context = context
    this.#available = available
    this.#viewOf = viewOf
    this.#finder = finder
    this.#personal = personal
    this.#guard = guard
  }

  /** Calls the tool that a request names, or answers a search for tools. */
  call(request: IncomingRequest, span: CallSpan | undefined): HandlerResult {
    const view = this.#viewOf(request.caller)
    return view.toolSearch === undefined
      ? this.#callByName(request, view, span)
      : this.#callOrSearch(request, view, span, view.toolSearch)
  }

  /** Returns the name of the tool that a request calls, by its name or by tool search. */
  readonly nameIn = (request: IncomingRequest): string | undefined => {
    const view = this.#viewOf(request.caller)
    const { name } = request.params
    const { toolSearch } = view
    const called = toolSearch?.calledName(view.visible(view.catalog()), request) ?? name
    return typeof called === 'string' ? called : undefined
  }

  #callOrSearch(
    request: IncomingRequest,
    view: View,
    span: CallSpan | undefined,
    toolSearch: ToolSearch,
  ): HandlerResult {
    const name = stringParam(request.params, 'name')
    if (!toolSearch.isOwn(name)) return this.#callByName(request, view, span)
    const target = toolSearch.target(view.visible(view.catalog()), name, request)
    if (target !== undefined) return this.#callByName(target, view, span, false)
    const answerFrom = (all: Catalog): HandlerResult => {
      const catalog = view.visible(all)
      const found = toolSearch.search(catalog, name, request)
      if (found !== undefined) return found
      const late = toolSearch.target(catalog, name, request)
      return this.#callByName(late ?? request, view, span, late === undefined)
    }
    const answer = (): HandlerResult =>
      this.#personal.has(view, 'tools')
        ? this.#personal.read(request, view, 'tools').then(answerFrom)
        : answerFrom(view.catalog())
    const listed = whenListed(view.routes(), 'tools', () => request.exchange.signal)
    return listed === undefined ? answer() : listed.then(answer)
  }

  /** `isDirect`: whether the caller knows the definition of the tool, and mirrors arguments in headers as it says. */
  #callByName(
    request: IncomingRequest,
    view: View,
    span: CallSpan | undefined,
    isDirect = true,
  ): HandlerResult {
    const name = stringParam(request.params, 'name')
    // Before closures are made for a tool that is not found: nearly every call is of a known one.
    const known = view.catalog().tool(name)
    if (known !== undefined) return this.#callGuarded(request, view, known, span, isDirect)
    const find = (catalog: Catalog) => catalog.tool(name)
    const forwardTo = (entry: ToolEntry) => this.#callGuarded(request, view, entry, span, isDirect)
    const routes = () => view.routesFor('tool', name)
    return this.#finder.findByName({ request, view, kind: 'tools', name, routes, find, forwardTo })
  }

  #callGuarded(
    request: IncomingRequest,
    view: View,
    entry: ToolEntry,
    span: CallSpan | undefined,
    isDirect: boolean,
  ): HandlerResult {
    const { access } = view
    if (!this.#guard.isNeeded(access)) return this.#callEntry(request, entry, span, isDirect)
    const { route, shown, name: upstream } = entry
    const { name } = shown
    const decision = access?.onEntry('tool', entry)
    const notFound = () => errors.toolNotFound({ tool: name })
    return this.#guard.pass(
      { kind: 'tool', name, server: route.name, upstream, request, access, decision, notFound },
      passed => this.#callEntry(passed, entry, span, isDirect),
    )
  }

  #callEntry(
    incoming: IncomingRequest,
    entry: ToolEntry,
    span: CallSpan | undefined,
    isDirect: boolean,
  ): HandlerResult {
    const { route, name, trustedAnnotations, task, isServersChoice, shown, mirrored } = entry
    const isChecked = isDirect && mirrored !== undefined
    const request = isChecked ? withCheckedHeaders(mirrored, incoming) : incoming
    const { senders } = this.#context
    if (task === 'forbidden' && request.params.task === undefined) {
      const call = new UpstreamCall(senders, request, route, { name }, span, trustedAnnotations)
      return forward(call, this.#context)
    }
    const taskStart = isServersChoice ? 'in-handler' : 'at-once'
    const support = { name: shown.name, task, taskStart } as const
    const mode = executionMode(request, support, this.#available.tasks)
    const run = (running: IncomingRequest): HandlerResult => {
      const isTask = task === 'required' || (task === 'optional' && running.task?.isBegun === true)
      const asTask = !isServersChoice && isTask
      return forward(
        new UpstreamCall(senders, running, route, { name }, span, trustedAnnotations, asTask),
        this.#context,
      )
    }
    const { tasks } = this.#server
    if (mode === 'task') {
      // It is answered before it is forwarded, and counts for its server all the same.
      if (span !== undefined) span.server = route.name
      return tasks.begin(request, shown.name, run)
    }
    return mode === 'deferred' ? tasks.deferTask(request, shown.name, run) : run(request)
  }
}

/**
 * Returns a request whose headers were compared with its arguments. The parsed arguments are forwarded:
 * of a name that occurs twice in their text, the next reader might take the other occurrence.
 */
function withCheckedHeaders(
  mirrored: MirroredArguments,
  request: IncomingRequest,
): IncomingRequest {
  const parsed = { ...request, params: parseRaw(request.params) }
  checkHeaders(mirrored, parsed)
  return parsed
}
