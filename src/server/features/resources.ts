import { resourceResult } from '../../mcp/content.ts'
import { listFault, mediaTypeFault, resourceFault } from '../../mcp/content-check.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
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
  type NamedParams,
  stringParam,
  whenReady,
} from '../request.ts'
import { subscribe, unsubscribe } from '../subscriptions/subscribe.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import { checkCompleters } from '../validate.ts'
import { type Completers, type FoundCompleter, findCompleter } from './completion.ts'
import { pageOf } from './pagination.ts'
import { type FeatureHost, FeatureSet, type Registration } from './registry.ts'

/** The definition of a resource or a resource template, besides its name, its URI and its handler. */
export interface ResourceDefinition {
  /** The display name, for people. */
  readonly title?: string
  /** What the resource contains, for the model. */
  readonly description?: string
  /** The media type of the content, such as `text/plain`. */
  readonly mimeType?: string
  /** In bytes, before any encoding. Not for a template. */
  readonly size?: number
  /** Hints: the audience, the priority, and when the resource changed last. */
  readonly annotations?: Annotations
  /** Icons for the user interface of hosts. */
  readonly icons?: readonly Icon[]
  /** Metadata that clients get as `_meta`. */
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
      checkMediaType(`resource "${name}"`, made)
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
      checkMediaType(`resource template "${name}"`, made)
      checkCompleters(`resource template "${name}"`, made.complete, template.variables)
      if (made.complete !== undefined) this.#hasCompleters = true
      const listed = { uriTemplate, name, ...listedPart(made) }
      return { definition: made, code, template, listed }
    })
  }

  /** Whether a single resource has this URI, even one that is disabled. */
  has(uri: string): boolean {
    return this.#resources.has(uri)
  }

  /** Returns a single resource as lists show it in a revision; undefined if there is none. */
  listed(uri: string, revision: Revision): Resource | undefined {
    const entry = this.#resources.get(uri)
    return entry && resourceFor(revision, entry.resource)
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
        const fault = listFault('contents', result.contents, resourceFault)
        if (fault !== undefined) throw new Error(`invalid contents of resource "${uri}": ${fault}`)
        return readResultFor(request.caller.revision, { ...definition.cache, ...result })
      }),
    ) as HandlerResult
  }

  subscribe(request: IncomingRequest): HandlerResult {
    const uri = stringParam(request.params, 'uri')
    if (this.#find(uri) === undefined) throw errors.resourceNotFound({ uri })
    return subscribe(request, uri, this.#host.subscriptions)
  }

  unsubscribe(request: IncomingRequest): NamedParams {
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

  #page<T>(set: FeatureSet<ResourceDefinition, T>, list: string, params: NamedParams) {
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

function checkMediaType(what: string, { mimeType }: ResourceDefinition): void {
  const fault = mediaTypeFault('mimeType', mimeType)
  if (fault !== undefined) throw new TypeError(`${what}: ${fault}`)
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
