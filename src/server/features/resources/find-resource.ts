import { type IncomingRequest, whenReady } from '../../request.ts'
import type { FeatureEntry, FeatureSet } from '../registry.ts'
import type {
  RegisteredResource,
  RegisteredTemplate,
  ResourceDefinition,
  TemplateDefinition,
} from './definition.ts'

/** The resources and templates of a server. */
export interface ResourceSets {
  /** By URI. */
  readonly resources: FeatureSet<ResourceDefinition, RegisteredResource>
  /** By URI template. */
  readonly templates: FeatureSet<TemplateDefinition, RegisteredTemplate>
}

/** An entry that a URI may mean, with the variables of a template. */
export interface ResourceMatch {
  readonly set: {
    find(key: string, request: IncomingRequest): ReturnType<FeatureSet<object, Readable>['find']>
  }
  readonly key: string
  readonly variables: Readonly<Record<string, unknown>>
}

export type Readable = Pick<RegisteredResource, 'code' | 'definition'>

/** A resource that a caller may read. */
export interface FoundResource extends Readable {
  readonly entry: FeatureEntry<unknown>
  readonly variables: Readonly<Record<string, unknown>>
}

/** Finds the resource that the caller of a request reads under a URI. */
export function findResource(
  sets: ResourceSets,
  uri: string,
  request: IncomingRequest,
): FoundResource | undefined | Promise<FoundResource | undefined> {
  return firstVisible(matches(sets, uri), 0, request)
}

function firstVisible(
  found: readonly ResourceMatch[],
  at: number,
  request: IncomingRequest,
): FoundResource | undefined | Promise<FoundResource | undefined> {
  const match = found[at]
  if (match === undefined) return undefined
  const { set, key, variables } = match
  return whenReady(set.find(key, request), entry => {
    if (entry === undefined) return firstVisible(found, at + 1, request)
    const { code, definition } = entry.value
    return { entry, code, definition, variables }
  })
}

/** Returns the enabled entries that a URI may mean: the single resource, or the templates that match. */
export function matches(
  { resources, templates }: ResourceSets,
  uri: string,
): readonly ResourceMatch[] {
  if (resources.get(uri) !== undefined) return [{ set: resources, key: uri, variables: {} }]
  const found: ResourceMatch[] = []
  for (const { template, listed } of templates.list()) {
    const variables = template.match(uri)
    if (variables === undefined || escapes(uri, variables)) continue
    found.push({ set: templates, key: listed.uriTemplate, variables })
  }
  return found
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
