import { errors } from '../../mcp/errors/constructors.ts'
import type { ListKind } from '../../mcp/list-changes.ts'
import type { HandlerResult, IncomingRequest } from '../../server/request.ts'
import { abortable } from '../../util/promises.ts'
import { exposeTools, mayExpose, prefixOf } from '../catalog/names.ts'
import type { Route } from '../dispatch/route.ts'
import type { View } from '../views/view.ts'
import { mayHaveName, whenListed } from './starting.ts'

/** Forwards at once what is found by its name. What is not found may belong to a server that is starting. */
export function findByName<T>(
  request: IncomingRequest,
  view: View,
  kind: 'tools' | 'prompts',
  name: string,
  find: () => T | undefined,
  forwardTo: (found: T) => HandlerResult,
): HandlerResult {
  const found = find()
  if (found !== undefined) return forwardTo(found)
  const routes = view.routes()
  const signal = () => request.exchange.signal
  const listed = whenListed(routes, kind, signal, mayHaveName(name))
  const missing = { request, kind, name, signal, find, forwardTo }
  if (listed === undefined) return onMissing(routes, { ...missing, hasWaited: false })
  return listed.then(() => {
    const late = find()
    return late === undefined ? onMissing(routes, { ...missing, hasWaited: true }) : forwardTo(late)
  })
}

/** A call to something that no list contains. */
interface MissingCall<T> {
  readonly request: IncomingRequest
  readonly kind: 'tools' | 'prompts'
  readonly name: string
  /** Whether the call has waited for servers that start already. */
  readonly hasWaited: boolean
  signal(): AbortSignal
  find(): T | undefined
  forwardTo(found: T): HandlerResult
}

/**
 * Answers a call to a tool or prompt that no list contains. If its server is starting, the call waits for
 * it. Otherwise throws or rejects with the error that says what is missing: the tool, or the server.
 */
function onMissing<T>(routes: readonly Route[], call: MissingCall<T>): HandlerResult {
  const { kind, name } = call
  const owner = missingOwner(routes, kind, name)
  const refuse = (): never => {
    if (owner !== undefined && isMissing(owner, kind)) {
      const error = missingError(owner, kind)
      owner.undelivered({ ...call.request, name }, error)
      throw error
    }
    throw kind === 'tools'
      ? errors.toolNotFound({ tool: name })
      : errors.promptNotFound({ prompt: name })
  }
  owner?.upstream.use()
  if (owner === undefined || call.hasWaited || !owner.upstream.isStarting) return refuse()
  const { upstream } = owner
  return abortable(upstream.nextReady(upstream.waitMs), call.signal()).then(() => {
    const found = call.find()
    return found === undefined ? refuse() : call.forwardTo(found)
  })
}

/** Returns the error for a resource that no server has, where the resources of a server are unknown. */
export function missingResourceError(routes: readonly Route[]): Error | undefined {
  const route = routes.find(({ upstream }) => !upstream.hasListed('resources'))
  return route && missingError(route, 'resources')
}

/**
 * Returns the server that a tool or prompt of this name belongs to, and whose list callers do not see: one
 * that is unavailable and listed it before, or one whose list was never read and whose prefix the name has.
 */
function missingOwner(
  routes: readonly Route[],
  kind: 'tools' | 'prompts',
  name: string,
): Route | undefined {
  const known = routes.find(({ upstream }) => {
    if (upstream.ready !== undefined) return false
    const { options, known: lists } = upstream
    const rules = kind === 'tools' ? options.tools : undefined
    const { byName } = exposeTools([
      { name: upstream.name, prefix: options.prefix, rules, tools: [...lists[kind]] },
    ])
    return byName.has(name)
  })
  if (known !== undefined) return known
  return routes.find(({ name: server, upstream }) => {
    const { prefix } = upstream.options
    // What a server listed in an earlier run says nothing about what it has now.
    const isListed = upstream.hasListed(kind) && !upstream.isRemembered
    if (isListed || !mayExpose(server, prefix, name)) return false
    // Without a prefix every unknown name might be one of its names; not where it has been given up.
    return prefixOf(server, prefix) !== '' || upstream.isComing
  })
}

function isMissing({ upstream }: Route, kind: ListKind): boolean {
  return upstream.ready === undefined || !upstream.hasListed(kind)
}

function missingError(route: Route, kind: ListKind): Error {
  const why = route.upstream.unavailableReason ?? `its list of ${kind} could not be read`
  return route.unavailable(why)
}
