import { resourceResult } from '../../mcp/content.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { readResultFor, resourceFor, templateFor } from '../../mcp/revisions/shape.ts'
import type { Annotations, CacheHints, Icon, Members } from '../../mcp/types/base.ts'
import type { Resource, ResourceTemplate } from '../../mcp/types/resources.ts'
import { parseTemplate, type UriTemplate } from '../../mcp/uri-template/template.ts'
import { promised } from '../../util/promised.ts'
import { Context } from '../context.ts'
import { checkHints } from '../core/cache-hints.ts'
import { isInputRequired, runAsking } from '../input/input-required.ts'
import { type Answer, type Params, type ServerRequest, stringParam, whenReady } from '../request.ts'
import { subscribe, unsubscribe } from '../subscriptions/subscribe.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import type { Completer } from './completer.ts'
import { pageOf } from './page.ts'
import { type FeatureHost, FeatureSet, type Registration } from './registry.ts'

/** What a resource, or a family of them, is, beside its name, its address and its code. */
export interface ResourceDefinition {
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** In bytes, before any encoding. Not for a family. */
  readonly size?: number
  readonly annotations?: Annotations
  readonly icons?: readonly Icon[]
  readonly meta?: Members
  /** How long what was read may be kept, where a revision can say so. */
  readonly cache?: CacheHints
  /** Suggests values for the variables of a family, by their names. */
  readonly complete?: Readonly<Record<string, Completer>>
}

/** Reads a resource: the variables of its address, where it is one of a family. */
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

/** What the resources need of their server. */
export interface ResourcesHost extends FeatureHost {
  readonly subscriptions: Subscriptions
}

/** The resources of a server, single ones and families: registered, listed, read, subscribed to. */
export class Resources {
  readonly #host: ResourcesHost
  /** By address, which is what they are read by. */
  readonly #single: FeatureSet<ResourceDefinition, ResourceEntry>
  readonly #families: FeatureSet<ResourceDefinition, TemplateEntry>
  #hasCompleters = false

  constructor(host: ResourcesHost, onChange: () => void) {
    this.#host = host
    this.#single = new FeatureSet('resource', onChange)
    this.#families = new FeatureSet('resource template', onChange)
  }

  get isUsed(): boolean {
    return this.#single.isUsed || this.#families.isUsed
  }

  register(
    name: string,
    uri: string,
    definition: ResourceDefinition,
    code: ResourceCode,
  ): Registration<ResourceDefinition> {
    if (!URL.canParse(uri)) throw new TypeError(`resource "${name}": "${uri}" is no URI`)
    return this.#single.add(uri, name, definition, made => {
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
    return this.#families.add(uriTemplate, name, definition, made => {
      checkHints(`resource template "${name}"`, made.cache)
      if (made.complete !== undefined) this.#hasCompleters = true
      const listed = { uriTemplate, name, ...listedPart(made) }
      return { definition: made, code, template, listed }
    })
  }

  list({ caller, params }: ServerRequest): Params {
    const page = this.#page(this.#single, 'resources', params)
    return {
      resources: page.items.map(entry => resourceFor(caller.revision, entry.resource)),
      nextCursor: page.nextCursor,
    }
  }

  listTemplates({ caller, params }: ServerRequest): Params {
    const page = this.#page(this.#families, 'resources/templates', params)
    return {
      resourceTemplates: page.items.map(entry => templateFor(caller.revision, entry.listed)),
      nextCursor: page.nextCursor,
    }
  }

  read(request: ServerRequest): Answer {
    const uri = stringParam(request.params, 'uri')
    const found = this.#find(uri)
    if (found === undefined) throw errors.resourceNotFound({ uri })
    const { code, definition, variables } = found
    return runAsking(request, this.#host.rounds, asking =>
      whenReady(promised(code(variables, new Context(request, asking))), value => {
        if (isInputRequired(value)) return value
        if (value === undefined || value === null) throw errors.resourceNotFound({ uri })
        const result = resourceResult(uri, definition.mimeType, value)
        return readResultFor(request.caller.revision, { ...definition.cache, ...result })
      }),
    ) as Answer
  }

  subscribe(request: ServerRequest): Params {
    const uri = stringParam(request.params, 'uri')
    if (this.#find(uri) === undefined) throw errors.resourceNotFound({ uri })
    return subscribe(request, uri, this.#host.subscriptions)
  }

  unsubscribe(request: ServerRequest): Params {
    return unsubscribe(request, stringParam(request.params, 'uri'), this.#host.subscriptions)
  }

  /** Who suggests values for a variable, and whether there are such a family and such a variable. */
  completer(uri: string, variable: string): Completer | undefined | 'unknown' | 'no argument' {
    const entry = this.#families.get(uri)
    // A single resource may be named, too, and has nothing to complete.
    if (entry === undefined) return this.#single.get(uri) === undefined ? 'unknown' : undefined
    if (!entry.template.variables.includes(variable)) return 'no argument'
    const { complete } = entry.definition
    return complete !== undefined && Object.hasOwn(complete, variable)
      ? complete[variable]
      : undefined
  }

  /** Whether any of them ever completed: what was declared must be answered. */
  get hasCompleters(): boolean {
    return this.#hasCompleters
  }

  #find(uri: string) {
    const single = this.#single.get(uri)
    if (single !== undefined) return { ...single, variables: {} }
    for (const family of this.#families.list()) {
      const variables = family.template.match(uri)
      if (variables !== undefined && !escapes(uri, variables)) return { ...family, variables }
    }
    return undefined
  }

  #page<T>(set: FeatureSet<ResourceDefinition, T>, list: string, params: Params) {
    const { cursors, pageSize } = this.#host
    return pageOf(set.list(), list, params, cursors, pageSize, set.places())
  }
}

/**
 * Whether a variable of a file's address would lead out of the folder it stands in: a handler that
 * makes a path of it must not be led anywhere else.
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
