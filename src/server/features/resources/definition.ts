import type { Caller } from '../../../mcp/caller.ts'
import { mediaTypeFault } from '../../../mcp/content/content-check.ts'
import type { LocalizedText } from '../../../mcp/content/localized.ts'
import type { Annotations, CacheHints, Icon, Members } from '../../../mcp/types/base.ts'
import type { Resource, ResourceTemplate } from '../../../mcp/types/resources.ts'
import type { UriTemplate, VariablesOf } from '../../../mcp/uri-template/template.ts'
import type { OptionTableOf } from '../../../util/options.ts'
import type { Context } from '../../context.ts'
import type { RequestContext } from '../../request-context.ts'
import type { AccessRule } from '../access.ts'
import type { Completers } from '../completion.ts'
import { commonMembers, hintsTable } from '../definition-members.ts'
import { defaultTexts } from '../translations.ts'
import type { ResourcePage } from './listed-resources.ts'

/** What the definitions of resources and of resource templates have in common. */
export interface ResourceDefinitionMembers<Env = unknown> {
  /** The display name, for people. */
  readonly title?: LocalizedText
  /** What the resource contains, for the model. */
  readonly description?: LocalizedText
  /** The media type of the content, such as `text/plain`. */
  readonly mimeType?: string
  /** Hints: the audience, the priority, and when the resource changed last. */
  readonly annotations?: Annotations
  /** Icons for the user interface of hosts. */
  readonly icons?: readonly Icon[]
  /** Metadata that clients get as `_meta`. */
  readonly meta?: Members
  /** How long clients may cache the contents, in revisions that have cache hints. */
  readonly cache?: CacheHints
  /**
   * Decides which callers see the resource: it is neither listed for the others nor can they read it or
   * subscribe to it, as if it did not exist. Returns at once; what it throws hides the resource. Without it
   * every caller sees the resource.
   */
  visible?(caller: Caller, env: Env): boolean
  /** What the principal of a caller needs: scopes, roles. Without it every caller may use the resource. */
  readonly auth?: AccessRule
}

/**
 * The definition of a resource, besides its name, its URI and its handler. `Env` is the type of what the
 * option `context` of the server returns.
 */
export interface ResourceDefinition<Env = unknown> extends ResourceDefinitionMembers<Env> {
  /** In bytes, before any encoding. */
  readonly size?: number
}

/** The definition of the resource template `T`, besides its name and its handler. */
export interface TemplateDefinition<Env = unknown, T extends string = string>
  extends ResourceDefinitionMembers<Env> {
  /** Completers that suggest values for the variables of the template, by the name of the variable. */
  readonly complete?: Completers<Env, keyof VariablesOf<T> & string>
  /**
   * Lists the resources of the template for `resources/list`, page by page: `cursor` is undefined for the
   * first page, then what the page before returned as `next`. Without it the resources are not listed.
   */
  list?(
    cursor: string | undefined,
    context: RequestContext<Env>,
  ): ResourcePage | Promise<ResourcePage>
}

/** The members of a resource definition, for validation. */
export const resourceTable: OptionTableOf<ResourceDefinition> = {
  ...commonMembers,
  mimeType: 'string',
  size: 'number',
  annotations: 'object',
  cache: hintsTable,
}

const { size: _size, ...templateMembers } = resourceTable

/** The members of a resource template definition, for validation. */
export const templateTable: OptionTableOf<TemplateDefinition> = {
  ...templateMembers,
  complete: { '*': 'any' },
  list: 'function',
}

/** Reads a single resource. */
export type ReadResource = (context: Context) => unknown

/** Reads a resource. `variables` are those of the template; empty for a single resource. */
export type ResourceCode = (
  variables: Readonly<Record<string, unknown>>,
  context: Context,
) => unknown

/** A registered resource. */
export interface RegisteredResource {
  readonly definition: ResourceDefinition
  readonly code: ResourceCode
  readonly resource: Resource
}

/** A registered resource template. */
export interface RegisteredTemplate {
  readonly definition: TemplateDefinition
  readonly code: ResourceCode
  readonly template: UriTemplate
  readonly listed: ResourceTemplate
}

/** Throws a TypeError for an invalid media type. */
export function checkMediaType(what: string, { mimeType }: ResourceDefinition): void {
  const fault = mediaTypeFault('mimeType', mimeType)
  if (fault !== undefined) throw new TypeError(`${what}: ${fault}`)
}

/** The members of a definition that lists show. */
export function listedPart(what: string, definition: Omit<ResourceDefinition, 'size'>) {
  const { mimeType, annotations, icons, meta } = definition
  return { ...defaultTexts(what, definition), mimeType, annotations, icons, _meta: meta }
}
