import { resourceResult } from '../../../mcp/content/content.ts'
import { listFault, resourceFault } from '../../../mcp/content/content-check.ts'
import { errors } from '../../../mcp/errors/constructors.ts'
import type { Revision } from '../../../mcp/revisions/revisions.ts'
import { readResultFor, resourceFor, templateFor } from '../../../mcp/revisions/shape.ts'
import type { Resource } from '../../../mcp/types/resources.ts'
import { parseTemplate } from '../../../mcp/uri-template/template.ts'
import { fromThenable } from '../../../util/promises.ts'
import { Context } from '../../context.ts'
import { checkHints } from '../../core/cache-hints.ts'
import type { Scope } from '../../core/request-scope.ts'
import { isInputRequired, runWithInput } from '../../input/input-required.ts'
import {
  type HandlerResult,
  type IncomingRequest,
  type NamedParams,
  stringParam,
  whenReady,
} from '../../request.ts'
import { subscribe, unsubscribe } from '../../subscriptions/subscribe.ts'
import type { Subscriptions } from '../../subscriptions/subscriptions.ts'
import { checkCompleters, checkRegistration } from '../../validate.ts'
import { requireScopes } from '../access.ts'
import { type CompleterSearch, findCompleter } from '../completion.ts'
import { checkPublicList, type ListHost, listPage } from '../lists.ts'
import { enterMounts, FeatureSet, type Registration, type Rename, runEntry } from '../registry.ts'
import { translator } from '../translations.ts'
import {
  checkMediaType,
  listedPart,
  type ReadResource,
  type RegisteredResource,
  type RegisteredTemplate,
  type ResourceCode,
  type ResourceDefinition,
  resourceTable,
  type TemplateDefinition,
  templateTable,
} from './definition.ts'
import { type FoundResource, findResource, matches, type ResourceSets } from './find-resource.ts'
import { type ResourceSource, readSources, sourceCursor } from './listed-resources.ts'

/** What resources need from their endpoint. */
export interface ResourcesHost extends ListHost {
  readonly subscriptions: Subscriptions
}

/** The resources and resource templates of a server. Answers the methods `resources/*`. */
export class Resources {
  readonly #host: ResourcesHost
  readonly #sets: ResourceSets
  readonly #mounted = new Set<Resources>()
  #hasCompleters = false

  constructor(host: ResourcesHost, onChange: () => void) {
    this.#host = host
    this.#sets = {
      resources: new FeatureSet('resource', onChange, host.onError),
      templates: new FeatureSet('resource template', onChange, host.onError),
    }
  }

  /** Whether callers may see different lists: of resources, or of templates. */
  get isPersonal(): boolean {
    const { resources, templates } = this.#sets
    return resources.isPersonal || templates.isPersonal || this.#hasSources
  }

  get isUsed(): boolean {
    return this.#sets.resources.isUsed || this.#sets.templates.isUsed
  }

  register(
    name: string,
    uri: string,
    definition: ResourceDefinition,
    code: ReadResource,
  ): Registration<ResourceDefinition, ReadResource> {
    const what = `resource "${name}"`
    if (!URL.canParse(uri)) throw new TypeError(`${what}: "${uri}" is not a URI`)
    const make = (made: ResourceDefinition, current: ReadResource): RegisteredResource => {
      checkRegistration(what, made, current, resourceTable)
      this.#check(what, made, 'resources/list')
      const resource = { uri, name, ...listedPart(what, made), size: made.size }
      return { definition: made, code: (_, context) => current(context), resource }
    }
    return this.#sets.resources.add(uri, name, definition, make, code)
  }

  registerTemplate(
    name: string,
    uriTemplate: string,
    definition: TemplateDefinition,
    code: ResourceCode,
  ): Registration<TemplateDefinition, ResourceCode> {
    const what = `resource template "${name}"`
    const template = parseTemplate(uriTemplate)
    const make = (made: TemplateDefinition, current: ResourceCode): RegisteredTemplate => {
      checkRegistration(what, made, current, templateTable)
      this.#check(what, made, 'resources/templates/list')
      checkCompleters(what, made.complete, template.variables)
      if (made.complete !== undefined) this.#hasCompleters = true
      const listed = { uriTemplate, name, ...listedPart(what, made) }
      return { definition: made, code: current, template, listed }
    }
    return this.#sets.templates.add(uriTemplate, name, definition, make, code)
  }

  /** Throws a TypeError if a resource or a template of another server has a URI that is taken. */
  checkMount(other: Resources): void {
    this.#sets.resources.checkMount(other.#sets.resources, uri => uri)
    this.#sets.templates.checkMount(other.#sets.templates, uri => uri)
  }

  /** Shows the resources and templates of a mounted server, under their own URIs. */
  mount(other: Resources, scope: Scope): () => void {
    const rule = { scope, keyOf: (key: string) => key }
    const ends = [
      this.#sets.resources.mount(other.#sets.resources, { ...rule, rename: entry => entry }),
      this.#sets.templates.mount(other.#sets.templates, { ...rule, rename: entry => entry }),
    ]
    this.#mounted.add(other)
    return () => {
      this.#mounted.delete(other)
      for (const end of ends) end()
    }
  }

  #check(what: string, definition: TemplateDefinition, list: string): void {
    checkHints(what, definition.cache)
    checkMediaType(what, definition)
    checkPublicList(what, definition, this.#host.publicLists.has(list))
  }

  /** Whether a single resource has this URI, even one that is disabled. */
  has(uri: string): boolean {
    return this.#sets.resources.has(uri)
  }

  /** Returns a single resource as lists show it in a revision; undefined if there is none. */
  listed(uri: string, revision: Revision): Resource | undefined {
    const entry = this.#sets.resources.get(uri)
    return entry && resourceFor(revision, entry.resource)
  }

  list(request: IncomingRequest): HandlerResult {
    const { cursor } = request.params
    return this.#hasSources ? this.#listAll(request, cursor) : this.#listRegistered(request)
  }

  /** Whether templates list resources, which may depend on the caller. */
  get #hasSources(): boolean {
    return this.#sets.templates.list().some(({ definition }) => definition.list !== undefined)
  }

  #listRegistered(request: IncomingRequest): HandlerResult {
    const { revision } = request.caller
    const view = this.#sets.resources.view(request)
    return listPage(request, this.#host, view, 'resources', ({ items }) => {
      const translate = translator(request)
      return items.map(({ resource, definition }) =>
        resourceFor(revision, translate(resource, definition)),
      )
    })
  }

  /** Lists the registered resources first, then those that templates list. */
  async #listAll(request: IncomingRequest, cursor: unknown): Promise<NamedParams> {
    const { cursors, pageSize } = this.#host
    const binding = ['listed resources', String(request.caller.principal?.id)]
    const start =
      typeof cursor === 'string' ? await sourceCursor(cursors, binding, cursor) : undefined
    const registered = start === undefined ? await this.#listRegistered(request) : undefined
    if (registered?.nextCursor !== undefined) return registered
    // The check: `listPage` puts an array there.
    const before = (registered?.resources ?? []) as readonly Resource[]
    const sources = await this.#sources(request)
    const room = Math.max(1, pageSize - before.length)
    const { resources, nextCursor } = await readSources(sources, start, room, cursors, binding)
    const { cacheHints } = request.caller.revision.features
    return {
      resources: [...before, ...resources],
      ...(nextCursor !== undefined && { nextCursor }),
      // What a template lists may depend on the caller.
      ...(cacheHints && { cacheScope: 'private' }),
    }
  }

  /** The templates that list their resources, as far as the caller sees them. */
  async #sources(request: IncomingRequest): Promise<readonly ResourceSource[]> {
    const sources: ResourceSource[] = []
    for (const { listed, definition } of this.#sets.templates.list()) {
      const list = definition.list?.bind(definition)
      if (list === undefined) continue
      const found = await this.#sets.templates.find(listed.uriTemplate, request)
      if (found === undefined) continue
      const { key } = found
      sources.push({ key, request: await enterMounts(found, request), list })
    }
    return sources
  }

  listTemplates(request: IncomingRequest): HandlerResult {
    const { revision } = request.caller
    const view = this.#sets.templates.view(request)
    return listPage(request, this.#host, view, 'resourceTemplates', ({ items }) => {
      const translate = translator(request)
      return items.map(({ listed, definition }) =>
        templateFor(revision, translate(listed, definition)),
      )
    })
  }

  read(request: IncomingRequest): HandlerResult {
    const uri = stringParam(request.params, 'uri')
    return whenReady(findResource(this.#sets, uri, request), found => {
      if (found === undefined) throw errors.resourceNotFound({ uri })
      return runEntry(found.entry, request, sameUri, inner => this.#read(uri, found, inner))
    })
  }

  #read(
    uri: string,
    { code, definition, variables }: FoundResource,
    request: IncomingRequest,
  ): HandlerResult {
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
    return whenReady(findResource(this.#sets, uri, request), found => {
      if (found === undefined) throw errors.resourceNotFound({ uri })
      const { scopes = [] } = found.definition.auth ?? {}
      requireScopes(request.caller.principal, scopes)
      return subscribe(request, uri, this.#host.subscriptions)
    })
  }

  unsubscribe(request: IncomingRequest): NamedParams {
    return unsubscribe(request, stringParam(request.params, 'uri'), this.#host.subscriptions)
  }

  /** Whether a listen stream may follow a resource: one that does not exist yet, or that its caller sees. */
  isVisible(uri: string, request: IncomingRequest): boolean | Promise<boolean> {
    if (matches(this.#sets, uri).length === 0) return true
    return whenReady(findResource(this.#sets, uri, request), found => found !== undefined)
  }

  /** Whether a resource or a template has this URI, even one that only some callers see. */
  knows(uri: string): boolean {
    return matches(this.#sets, uri).length > 0
  }

  /** Finds the completer of a variable of a template. */
  completer(
    uri: string,
    variable: string,
    request: IncomingRequest,
  ): CompleterSearch | Promise<CompleterSearch> {
    return whenReady(this.#sets.templates.find(uri, request), found => {
      if (found !== undefined) {
        const { definition, template } = found.value
        return findCompleter(found, definition.complete, template.variables, variable)
      }
      // A reference to a single resource is valid, and has nothing to complete.
      return whenReady(this.#sets.resources.find(uri, request), single =>
        single === undefined ? 'no reference' : undefined,
      )
    })
  }

  /** Whether any template ever had completers: clients keep the capability that they were given. */
  get hasCompleters(): boolean {
    return this.#hasCompleters || [...this.#mounted].some(resources => resources.hasCompleters)
  }
}

/** URIs are the same in a mounted server. */
const sameUri: Rename = params => params
