import { hideValues } from './hidden-values.ts'

/**
 * Returns a URL for messages: without credentials, query and fragment, without the values of variables, and
 * without the segments of its path that look like a token.
 */
export function addressText(address: URL | string): string {
  if (typeof address === 'string' && !URL.canParse(address)) return hideValues(address)
  const { protocol, host, pathname, search, href } = new URL(address)
  if (host === '') return hideValues(href)
  // Hidden before the path is split: a value may have slashes.
  const segments = hideValues(`${host}${pathname}`).split('/')
  const shown = segments.map((segment, at) => (at > 0 && isToken(segment) ? '…' : segment))
  return `${protocol}//${shown.join('/')}${search === '' ? '' : '?…'}`
}

/** Whether a segment of a path is more likely a token than a name. */
function isToken(segment: string): boolean {
  if (segment.includes('${')) return false
  if (segment.length >= 32) return true
  return segment.length >= 12 && /\d/.test(segment) && /[a-z]/i.test(segment)
}
