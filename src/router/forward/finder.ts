import { errors } from '../../mcp/errors/constructors.ts'
import type { ListKind } from '../../mcp/list-changes.ts'
import type { Members } from '../../mcp/types/base.ts'
import { runWithInput } from '../../server/input/input-required.ts'
import type { InputRounds } from '../../server/input/request-state.ts'
import type { HandlerResult, IncomingRequest } from '../../server/request.ts'
import { abortable } from '../../util/promises.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { exposeTools, mayExpose, prefixOf } from '../catalog/names.ts'
import type { PersonalCatalogs } from '../catalog/personal-catalogs.ts'
import type { Route } from '../dispatch/route.ts'
import type { View } from '../views/view.ts'
import { connectInstead } from './errors.ts'
import { mayHaveName, whenListed } from './starting.ts'

/** A search for what a request names. */
export interface Search<T> {
  readonly request: IncomingRequest
  /** What the caller of the request can see and use. */
  readonly view: View
  readonly kind: ListKind
  /** The servers that may have it, as far as the caller may know. */
  routes(): readonly Route[]
  find(catalog: Catalog): T | undefined
  forwardTo(found: T): HandlerResult
}

/** A search for a tool or prompt by its name. */
export interface NamedSearch<T> extends Search<T> {
  readonly kind: 'tools' | 'prompts'
  readonly name: string
}

/** Finds what requests name, in the lists that all callers share and in those of their callers. */
export class Finder {
  readonly #personal: PersonalCatalogs
  readonly #rounds: InputRounds

  constructor(personal: PersonalCatalogs, rounds: InputRounds) {
    this.#personal = personal
    this.#rounds = rounds
  }

  /**
   * Forwards at once what is found. What is not found may belong to a server that is starting: `onMiss` is
   * called only when that is not so, and whether the request has waited for servers that start.
   */
  find<T>(
    search: Search<T>,
    onMiss: (hasWaited: boolean) => HandlerResult,
    mayHave?: (route: Route) => boolean,
  ): HandlerResult {
    const { request, routes, kind } = search
    return this.#findNow(search, mayHave, () => {
      const signal = () => request.exchange.signal
      const listed = whenListed(routes(), kind, signal, mayHave)
      if (listed === undefined) return onMiss(false)
      return listed.then(() => this.#findNow(search, mayHave, () => onMiss(true)))
    })
  }

  /** Forwards what is found by its name, or rejects with the error that says what is missing. */
  findByName<T>(search: NamedSearch<T>): HandlerResult {
    const { routes, name } = search
    return this.find(search, hasWaited => onMissing(routes(), search, hasWaited), mayHaveName(name))
  }

  #findNow<T>(
    search: Search<T>,
    mayHave: ((route: Route) => boolean) | undefined,
    onMiss: () => HandlerResult,
  ): HandlerResult {
    const { request, view, kind, routes, find, forwardTo } = search
    const found = find(view.catalog())
    if (found !== undefined) return forwardTo(found)
    if (!this.#personal.has(view, kind)) return onMiss()
    // A server that the policy hides from the caller must not ask for anything.
    const mayAsk = (route: Route) => mayHave?.(route) === true && routes().includes(route)
    return this.#personal.find(request, view, kind, find, mayAsk).then(
      own => (own === undefined ? onMiss() : forwardTo(own)),
      error => this.#askToConnect(request, error),
    )
  }

  /** Asks the caller to visit the page on which its user allows the router to use the server for them. */
  #askToConnect(request: IncomingRequest, error: unknown): HandlerResult {
    const connect = connectInstead(request, error)
    if (connect instanceof Error) throw connect
    if (connect !== undefined) return connect
    const ask = async (): Promise<Members> => {
      throw error
    }
    return runWithInput(request, this.#rounds, ask)
  }
}

/**
 * Answers a call to a tool or prompt that no list contains. If its server is starting, the call waits for
 * it. Otherwise throws or rejects with the error that says what is missing: the tool, or the server.
 */
function onMissing<T>(
  routes: readonly Route[],
  { request, view, kind, name, find, forwardTo }: NamedSearch<T>,
  hasWaited: boolean,
): HandlerResult {
  const owner = missingOwner(routes, kind, name)
  const refuse = (): never => {
    if (owner !== undefined && isMissing(owner, kind)) {
      const error = missingError(owner, kind)
      owner.undelivered({ ...request, name }, error)
      throw error
    }
    throw kind === 'tools'
      ? errors.toolNotFound({ tool: name })
      : errors.promptNotFound({ prompt: name })
  }
  owner?.upstream.use()
  if (owner === undefined || hasWaited || !owner.upstream.isStarting) return refuse()
  const { upstream } = owner
  return abortable(upstream.nextReady(upstream.waitMs), request.exchange.signal).then(() => {
    const found = find(view.catalog())
    return found === undefined ? refuse() : forwardTo(found)
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
