import { isRecord } from '../../util/objects.ts'
import type { CacheHints, Implementation } from '../types/base.ts'
import type { Content } from '../types/content.ts'
import type { Prompt } from '../types/prompts.ts'
import type { ReadResourceResult, Resource, ResourceTemplate } from '../types/resources.ts'
import type { CallToolResult, Tool } from '../types/tools.ts'
import type { Features, Revision } from './revision.ts'

/**
 * Adapts definitions and results to a revision: members that it lacks are removed or expressed with
 * what it has, so that a client never receives a shape its revision does not define.
 */

/** Removes titles, `_meta` and icons if the revision lacks them. */
function named<T extends object>(thing: T, features: Features): T {
  const { title, icons, _meta, ...rest } = thing as T & Named
  return {
    ...rest,
    ...(features.titles && { title, _meta }),
    ...(features.icons && { icons }),
  } as unknown as T
}

interface Named {
  readonly title?: unknown
  readonly icons?: unknown
  readonly _meta?: unknown
}

export function implementationFor({ features }: Revision, info: Implementation): Implementation {
  const { websiteUrl, description, ...rest } = info
  return named(features.icons ? { ...rest, websiteUrl, description } : rest, features)
}

export function toolFor({ features }: Revision, tool: Tool): Tool {
  const { annotations, outputSchema, execution, ...rest } = tool
  const hasOutput =
    features.structured === 'any' ||
    (features.structured === 'object' && outputSchema?.type === 'object')
  return named(
    {
      ...rest,
      ...(features.toolAnnotations && { annotations }),
      ...(hasOutput && { outputSchema }),
      ...(features.tasks === 'core' && { execution }),
    },
    features,
  )
}

export function resourceFor({ features }: Revision, resource: Resource): Resource {
  return named(resource, features)
}

export function templateFor({ features }: Revision, template: ResourceTemplate): ResourceTemplate {
  return named(template, features)
}

export function promptFor({ features }: Revision, prompt: Prompt): Prompt {
  const shaped = named(prompt, features)
  return features.titles
    ? shaped
    : { ...shaped, arguments: shaped.arguments?.map(argument => named(argument, features)) }
}

export function contentFor({ features }: Revision, content: Content): Content {
  if (content.type === 'audio' && !features.audio) {
    const { data, mimeType, annotations } = content
    return {
      type: 'resource',
      resource: { uri: 'audio:', mimeType, blob: data },
      annotations,
    }
  }
  if (content.type === 'resource_link' && !features.resourceLinks) {
    const { name, uri, description, annotations } = content
    const words = description === undefined ? '' : `: ${description}`
    return { type: 'text', text: `${name} (${uri})${words}`, annotations }
  }
  return content
}

/** Removes the cache hints of a read result in revisions without them. */
export function readResultFor(
  { features }: Revision,
  result: ReadResourceResult & CacheHints,
): ReadResourceResult {
  if (features.cacheHints) return result
  const { ttlMs, cacheScope, ...rest } = result
  return rest
}

/**
 * Adapts the result of a tool: removes structured content that the revision cannot represent, which the
 * text repeats.
 */
export function callResultFor(revision: Revision, result: CallToolResult): CallToolResult {
  const { structured, audio, resourceLinks } = revision.features
  const isSaid =
    result.structuredContent === undefined ||
    structured === 'any' ||
    (structured === 'object' && isRecord(result.structuredContent))
  const isAll = audio && resourceLinks
  // The common case. Copying the result would take longer than all other work for a call.
  if (isSaid && isAll) return result
  const { structuredContent, ...rest } = result
  const content = isAll ? rest.content : rest.content.map(block => contentFor(revision, block))
  return isSaid ? { ...rest, content, structuredContent } : { ...rest, content }
}
