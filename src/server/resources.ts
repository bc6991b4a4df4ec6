import { resourceResult } from '../mcp/content.ts'
import { errors } from '../mcp/errors.ts'
import { resourceFor, templateFor } from '../mcp/revisions/shape.ts'
import type { Annotations, Icon, Members } from '../mcp/types/base.ts'
import type { Resource, ResourceTemplate } from '../mcp/types/resources.ts'
import { parseTemplate, type UriTemplate } from '../mcp/uri-template.ts'
import { limits } from '../util/limits.ts'
import { isInputRequired, runAsking } from './ask.ts'
import type { Completer } from './completer.ts'
import { Context } from './context.ts'
import type { Cursors } from './cursor.ts'
import { FeatureSet, type Registration } from './features.ts'
import { pageOf } from './page.ts'
import { type Answer, type Params, type ServerRequest, stringParam, whenReady } from './request.ts'
import type { Sealer } from './seal.ts'
import type { Session } from './session.ts'

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

export interface ResourcesHost {
  readonly sealer: Sealer
  readonly cursors: Cursors
  readonly pageSize: number
}

/** The resources of a server, single ones and families: registered, listed, read, subscribed to. */
export class Resources {
  readonly #host: ResourcesHost
  /** By address, which is what they are read by. */
  readonly #single: FeatureSet<ResourceEntry>
  readonly #families: FeatureSet<TemplateEntry>

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
    const make = (made: ResourceDefinition): ResourceEntry => ({
      definition: made,
      code,
      resource: { uri, name, ...listedPart(made), size: made.size },
    })
    const registration = this.#single.add(uri, make(definition), (entry, changes) =>
      make({ ...entry.definition, ...changes.definition }),
    )
    return renamed(registration, name)
  }

  registerTemplate(
    name: string,
    uriTemplate: string,
    definition: ResourceDefinition,
    code: ResourceCode,
  ): Registration<ResourceDefinition> {
    const template = parseTemplate(uriTemplate)
    const make = (made: ResourceDefinition): TemplateEntry => ({
      definition: made,
      code,
      template,
      listed: { uriTemplate, name, ...listedPart(made) },
    })
    const registration = this.#families.add(uriTemplate, make(definition), (entry, changes) =>
      make({ ...entry.definition, ...changes.definition }),
    )
    return renamed(registration, name)
  }

  list({ caller, params }: ServerRequest): Params {
    const page = this.#page(this.#single.list(), 'resources', params)
    return {
      resources: page.items.map(entry => resourceFor(caller.revision, entry.resource)),
      nextCursor: page.nextCursor,
    }
  }

  listTemplates({ caller, params }: ServerRequest): Params {
    const page = this.#page(this.#families.list(), 'resources/templates', params)
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
    return runAsking(request, this.#host.sealer, asking =>
      whenReady(code(variables, new Context(request, asking)), value => {
        if (isInputRequired(value)) return value
        if (value === undefined || value === null) throw errors.resourceNotFound({ uri })
        return resourceResult(
          uri,
          definition.mimeType,
          value as Parameters<typeof resourceResult>[2],
        )
      }),
    ) as Answer
  }

  subscribe({ params, session }: ServerRequest): Params {
    const uri = stringParam(params, 'uri')
    if (this.#find(uri) === undefined) throw errors.resourceNotFound({ uri })
    const { uris } = session as Session
    if (!uris.has(uri) && uris.size >= limits.subscribedUris.default) {
      throw errors.subscriptionFailed({ details: 'too many subscriptions' })
    }
    uris.add(uri)
    return {}
  }

  unsubscribe({ params, session }: ServerRequest): Params {
    session?.uris.delete(stringParam(params, 'uri'))
    return {}
  }

  /** Who suggests values for a variable; `'unknown'` where there is no such family. */
  completer(uri: string, variable: string): Completer | undefined | 'unknown' {
    const entry = this.#families.get(uri)
    if (entry === undefined) return this.#single.get(uri) === undefined ? 'unknown' : undefined
    const { complete } = entry.definition
    return complete !== undefined && Object.hasOwn(complete, variable)
      ? complete[variable]
      : undefined
  }

  get hasCompleters(): boolean {
    return this.#families.list().some(entry => entry.definition.complete !== undefined)
  }

  #find(uri: string) {
    const single = this.#single.get(uri)
    if (single !== undefined) return { ...single, variables: {} }
    for (const family of this.#families.list()) {
      const variables = family.template.match(uri)
      if (variables !== undefined) return { ...family, variables }
    }
    return undefined
  }

  #page<T>(all: readonly T[], list: string, params: Params) {
    return pageOf(all, list, params, this.#host.cursors, this.#host.pageSize)
  }
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

function renamed<T extends { readonly definition: ResourceDefinition }>(
  registration: Registration<T>,
  name: string,
): Registration<ResourceDefinition> {
  return {
    ...registration,
    name,
    get isEnabled() {
      return registration.isEnabled
    },
    // The check: rebuilding takes nothing of the changes but the definition.
    update: changes => registration.update({ definition: changes } as unknown as Partial<T>),
  }
}
