import { isRecord } from '../../util/objects.ts'
import type { Content, ResourceContents } from '../types/content.ts'

/** Whether a text is Base64 with padding, as RFC 4648 defines it. Copies nothing. */
export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false
  const end = text.search(/[^A-Za-z0-9+/]/)
  if (end === -1) return true
  return end >= text.length - 2 && /^={1,2}$/.test(text.slice(end))
}

/** Whether a text is a media type such as `image/png` or `text/plain; charset=utf-8`. */
export function isMediaType(text: string): boolean {
  return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w!#$&^.+-]+=(?:[\w!#$%&'*^.+`|~-]+|"[^"\r\n]*"))*\s*$/.test(
    text,
  )
}

/** Returns what is wrong with the data or the media type of a content block; undefined if nothing. */
export function contentFault(block: Content): string | undefined {
  switch (block.type) {
    case 'text':
      return undefined
    case 'image':
    case 'audio':
      if (!isMediaType(block.mimeType)) return mediaTypeFault('mimeType', block.mimeType)
      return isBase64(block.data) ? undefined : 'data is not Base64'
    case 'resource_link':
      return mediaTypeFault('mimeType', block.mimeType)
    case 'resource': {
      const fault = resourceFault(block.resource)
      return fault && `resource.${fault}`
    }
  }
}

/** Returns what is wrong with the data or the media type of contents; undefined if nothing. */
export function resourceFault(resource: ResourceContents): string | undefined {
  if ('blob' in resource && !isBase64(resource.blob)) return 'blob is not Base64'
  return mediaTypeFault('mimeType', resource.mimeType)
}

/** Returns the first fault in a list, after the place where it is; undefined if there is none. */
export function listFault<T>(
  name: string,
  list: readonly T[],
  faultOf: (item: T) => string | undefined,
): string | undefined {
  for (const [index, item] of list.entries()) {
    const fault = faultOf(item)
    if (fault !== undefined) return `${name}[${index}].${fault}`
  }
  return undefined
}

/** Returns why a media type is invalid; undefined for a valid one, or none. */
export function mediaTypeFault(name: string, mimeType: unknown): string | undefined {
  if (mimeType === undefined || (typeof mimeType === 'string' && isMediaType(mimeType))) {
    return undefined
  }
  const shown = JSON.stringify(mimeType)?.slice(0, 60) ?? typeof mimeType
  return `${name} is not a media type such as "image/png": ${shown}`
}

/**
 * Returns why a value that was meant as a list of content blocks is none: the first item that is not a
 * valid block. Only items with a `type` count as meant; undefined for other lists.
 */
export function blocksFault(
  items: readonly unknown[],
  isContent: (item: unknown) => boolean,
): string | undefined {
  if (!items.every(item => isRecord(item) && typeof item.type === 'string')) return undefined
  const index = items.findIndex(item => !isContent(item))
  if (index === -1) return undefined
  const item = items[index]
  const type = isRecord(item) ? String(item.type).slice(0, 60) : ''
  return blockTypes.has(type)
    ? `content[${index}] is not a complete block of type "${type}"`
    : `content[${index}] has the type "${type}", which no content has`
}

const blockTypes = new Set(['text', 'image', 'audio', 'resource_link', 'resource'])
