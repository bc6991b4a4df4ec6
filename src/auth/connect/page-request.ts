import type { PageRequest } from '../../mcp/callers/connect-pages.ts'
import { isLoopback, originRefusal } from '../../util/origin.ts'

/**
 * Returns why a request cannot be one of a browser on our own pages; undefined if it can. The pages ask browsers to
 * reveal no referrer, and then browsers send `Origin: null` with our own forms: a random value in the form is what
 * proves that it is ours.
 */
export function foreignReason(request: PageRequest, base: URL): string | undefined {
  const { origins, site, ...rest } = request.origin()
  const refusal = originRefusal(
    { ...rest, origins: [] },
    { ...request.local(), allowedHosts: [base.host] },
  )
  if (refusal !== undefined) return refusal
  if (request.method !== 'POST') return undefined
  if (origins.some(origin => origin !== 'null' && origin !== base.origin))
    return 'the form was sent by another site'
  return site === undefined || site === 'same-origin'
    ? undefined
    : 'the form was sent by another site'
}

/** Reads the form of a request; undefined if it is none, or if it is too large. */
export function formOf(
  request: PageRequest,
  maxBytes: number,
): Promise<URLSearchParams | undefined> {
  const type = request.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') return Promise.resolve(undefined)
  return new Promise(resolve => {
    request.body(maxBytes, bytes => {
      const isRead = bytes !== undefined && bytes !== 'no-room'
      resolve(isRead ? new URLSearchParams(new TextDecoder().decode(bytes)) : undefined)
    })
  })
}

/** Whether a URL can be reached from its own machine only. */
export function isOwnMachine({ hostname }: URL): boolean {
  return isLoopback(hostname.replace(/^\[|\]$/g, ''))
}
