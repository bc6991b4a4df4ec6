import { resourceResult } from '../../mcp/content.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { readResultFor, resourceFor, templateFor } from '../../mcp/revisions/shape.ts'
import type { Annotations, CacheHints, Icon, Members } from '../../mcp/types/base.ts'
import type { Resource, ResourceTemplate } from '../../mcp/types/resources.ts'
import { parseTemplate, type UriTemplate } from '../../mcp/uri-template/template.ts'
import { fromThenable } from '../../util/promises.ts'
import { Context } from '../context.ts'
import { checkHints } from '../core/cache-hints.ts'
import { isInputRequired, runWithInput } from '../input/input-required.ts'
import {
  type HandlerResult,
  type IncomingRequest,
  type Params,
  stringParam,
  whenReady,
} from '../request.ts'
import { subscribe, unsubscribe } from '../subscriptions/subscribe.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import { type Completers, type FoundCompleter, findCompleter } from './completion.ts'
import { pageOf } from './pagination.ts'
import { type FeatureHost, FeatureSet, type Registration } from './registry.ts'

/** The definition of a resource or a resource template, besides its name, its URI and its handler. */
export interface ResourceDefinition {
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** In bytes, before any encoding. Not for a template. */
  readonly size?: number
  readonly annotations?: Annotations
  readonly icons?: readonly Icon[]
  readonly meta?: Members
  /** How long clients may cache the contents, in revisions that have cache hints. */
  readonly cache?: CacheHints
  /** Completers that suggest values for the variables of a template, by the name of the variable. */
  readonly complete?: Completers
}

/** Reads a resource. `variables` are those of the template; empty for a single resource. */
export type ResourceCode = (
  variables: Readonly<Record<string, unknown>>,
  context: Context,
) => unknown

interface ResourceEntry {
  readonly definition: ResourceDefinition
  readonly code: ResourceCode
  readonly resource: Resource
}

interface TemplateEntry {
  readonly definition: ResourceDefinition
  readonly code: ResourceCode
  readonly template: UriTemplate
  readonly listed: ResourceTemplate
}

/** What resources need from their endpoint. */
export interface ResourcesHost extends FeatureHost {
  readonly subscriptions: Subscriptions
}

/** The resources and resource templates of a server. Answers the methods `resources/*`. */
export class Resources {
  readonly #host: ResourcesHost
  /** By URI. */
  readonly #resources: FeatureSet<ResourceDefinition, ResourceEntry>
  readonly #templates: FeatureSet<ResourceDefinition, TemplateEntry>
  #hasCompleters = false

  constructor(host: ResourcesHost, onChange: () => void) {
    this.#host = host
    this.#resources = new FeatureSet('resource', onChange)
    this.#templates = new FeatureSet('resource template', onChange)
  }

  get isUsed(): boolean {
    return this.#resources.isUsed || this.#templates.isUsed
  }

  register(
    name: string,
    uri: string,
    definition: ResourceDefinition,
    code: ResourceCode,
  ): Registration<ResourceDefinition> {
    if (!URL.canParse(uri)) throw new TypeError(`resource "${name}": "${uri}" is not a URI`)
    return this.#resources.add(uri, name, definition, made => {
      checkHints(`resource "${name}"`, made.cache)
      const resource = { uri, name, ...listedPart(made), size: made.size }
      return { definition: made, code, resource }
    })
  }

  registerTemplate(
    name: string,
    uriTemplate: string,
    definition: ResourceDefinition,
    code: ResourceCode,
  ): Registration<ResourceDefinition> {
    const template = parseTemplate(uriTemplate)
    return this.#templates.add(uriTemplate, name, definition, made => {
      checkHints(`resource template "${name}"`, made.cache)
      if (made.complete !== undefined) this.#hasCompleters = true
      const listed = { uriTemplate, name, ...listedPart(made) }
      return { definition: made, code, template, listed }
    })
  }

  list({ caller, params }: IncomingRequest): HandlerResult {
    const page = this.#page(this.#resources, 'resources', params)
    return whenReady(page, ({ items, nextCursor }) => ({
      resources: items.map(entry => resourceFor(caller.revision, entry.resource)),
      nextCursor,
    }))
  }

  listTemplates({ caller, params }: IncomingRequest): HandlerResult {
    const page = this.#page(this.#templates, 'resources/templates', params)
    return whenReady(page, ({ items, nextCursor }) => ({
      resourceTemplates: items.map(entry => templateFor(caller.revision, entry.listed)),
      nextCursor,
    }))
  }

  read(request: IncomingRequest): HandlerResult {
    const uri = stringParam(request.params, 'uri')
    const found = this.#find(uri)
    if (found === undefined) throw errors.resourceNotFound({ uri })
    const { code, definition, variables } = found
    return runWithInput(request, this.#host.rounds, run =>
      whenReady(fromThenable(code(variables, new Context(request, run))), value => {
        if (isInputRequired(value)) return value
        if (value === undefined || value === null) throw errors.resourceNotFound({ uri })
        const result = resourceResult(uri, definition.mimeType, value)
        return readResultFor(request.caller.revision, { ...definition.cache, ...result })
      }),
    ) as HandlerResult
  }

  subscribe(request: IncomingRequest): Params {
    const uri = stringParam(request.params, 'uri')
    if (this.#find(uri) === undefined) throw errors.resourceNotFound({ uri })
    return subscribe(request, uri, this.#host.subscriptions)
  }

  unsubscribe(request: IncomingRequest): Params {
    return unsubscribe(request, stringParam(request.params, 'uri'), this.#host.subscriptions)
  }

  /** Finds the completer of a variable of a template. */
  completer(uri: string, variable: string): FoundCompleter {
    const entry = this.#templates.get(uri)
    if (entry !== undefined) {
      return findCompleter(entry.definition.complete, entry.template.variables, variable)
    }
    // A reference to a single resource is valid, and has nothing to complete.
    return this.#resources.get(uri) === undefined ? 'no reference' : undefined
  }

  /** Whether any template ever had completers: clients keep the capability that they were given. */
  get hasCompleters(): boolean {
    return this.#hasCompleters
  }

  #find(uri: string) {
    const single = this.#resources.get(uri)
    if (single !== undefined) return { ...single, variables: {} }
    for (const entry of this.#templates.list()) {
      const variables = entry.template.match(uri)
      if (variables !== undefined && !escapes(uri, variables)) return { ...entry, variables }
    }
    return undefined
  }

  #page<T>(set: FeatureSet<ResourceDefinition, T>, list: string, params: Params) {
    const { cursors, pageSize } = this.#host
    return pageOf(set.list(), list, params, cursors, pageSize, set.positions())
  }
}

/**
 * Whether a variable of a `file:` URI would lead out of its folder. A handler that makes a path of the
 * variable must not reach files elsewhere.
 */
function escapes(uri: string, variables: Readonly<Record<string, unknown>>): boolean {
  if (!/^file:/i.test(uri)) return false
  const isOutside = (value: unknown) =>
    typeof value === 'string' && (/^[\\/]|\0/.test(value) || value.split(/[\\/]/).includes('..'))
  return Object.values(variables).flat().some(isOutside)
}

function listedPart({
  title,
  description,
  mimeType,
  annotations,
  icons,
  meta,
}: ResourceDefinition) {
  return { title, description, mimeType, annotations, icons, _meta: meta }
}
