import { errors } from '../../../mcp/errors/constructors.ts'
import { resourceFor } from '../../../mcp/revisions/shape.ts'
import type { Resource } from '../../../mcp/types/resources.ts'
import { limits } from '../../../util/limits/limits.ts'
import { isRecord } from '../../../util/objects.ts'
import type { IncomingRequest } from '../../request.ts'
import { type RequestContext, RequestView } from '../../request-context.ts'
import type { Cursors } from '../pagination.ts'

/** A page of the resources of a template. */
export interface ResourcePage {
  /** The resources; each needs at least `uri` and `name`. */
  readonly resources: readonly Resource[]
  /** What the next call of `list` gets as its cursor; undefined on the last page. */
  readonly next?: string | undefined
}

/** A template that lists its resources, with the request as its handler sees it. */
export interface ResourceSource {
  /** The URI template. */
  readonly key: string
  readonly request: IncomingRequest
  list(
    cursor: string | undefined,
    context: RequestContext<unknown>,
  ): ResourcePage | Promise<ResourcePage>
}

/** A place in the lists of templates: the template, and the cursor that its last page returned. */
export type SourceCursor = readonly [key: string, next: string | undefined]

/** The resources of a page, and the cursor of the next one, if any. */
export interface ListedPage {
  readonly resources: readonly Resource[]
  readonly nextCursor?: string
}

/**
 * Reads resources from the lists of templates, starting at a cursor, until `size` are found or all lists
 * have ended. The pages of a source are kept whole, so a page may be longer. `binding` binds the cursor to
 * the caller.
 */
export async function readSources(
  sources: readonly ResourceSource[],
  start: SourceCursor | undefined,
  size: number,
  cursors: Cursors,
  binding: readonly string[],
): Promise<ListedPage> {
  const resources: Resource[] = []
  let at = start === undefined ? 0 : sources.findIndex(({ key }) => key === start[0])
  // The template was removed, or the caller may not see it any more.
  if (at === -1) throw errors.invalidCursor({ cursor: String(start?.[0]) })
  let next = start?.[1]
  for (let calls = 0; ; calls++) {
    const source = sources[at]
    if (source === undefined) return { resources }
    const isFull = resources.length >= size || calls >= limits.listCalls.default
    if (isFull)
      return { resources, nextCursor: await cursorOf(cursors, binding, [source.key, next]) }
    const page = await readPage(source, next)
    const { revision } = source.request.caller
    resources.push(...page.resources.map(resource => resourceFor(revision, resource)))
    next = page.next
    if (next === undefined) at++
  }
}

/** Reads a cursor of `readSources`; undefined for any other. */
export async function sourceCursor(
  cursors: Cursors,
  binding: readonly string[],
  cursor: string,
): Promise<SourceCursor | undefined> {
  const text = await cursors.verify(binding, cursor)
  // The check: only `cursorOf` signs with this binding.
  return text === undefined ? undefined : (JSON.parse(text) as SourceCursor)
}

function cursorOf(
  cursors: Cursors,
  binding: readonly string[],
  place: SourceCursor,
): Promise<string> {
  return cursors.sign(binding, JSON.stringify(place))
}

async function readPage(source: ResourceSource, cursor: string | undefined): Promise<ResourcePage> {
  const page: unknown = await source.list(cursor, new RequestView(source.request))
  const what = `list() of resource template "${source.key}"`
  if (!isRecord(page) || !Array.isArray(page.resources)) {
    throw new TypeError(`${what} must return { resources, next }`)
  }
  if (!page.resources.every(isResource)) {
    throw new TypeError(`${what} returned a resource without uri or name`)
  }
  const { next } = page
  const max = limits.listCursorLength.default
  if (next !== undefined && (typeof next !== 'string' || next.length > max)) {
    throw new TypeError(`${what}: next must be a string of at most ${max} characters`)
  }
  return { resources: page.resources, next }
}

function isResource(value: unknown): value is Resource {
  return isRecord(value) && typeof value.uri === 'string' && typeof value.name === 'string'
}
