import type { SendGuardedRequest } from './guarded-request.ts'
import { textOf } from './network.ts'

/** Sends a request by `fetch`: that of the options, or the global one. Cannot check the addresses of host names. */
export const sendByFetch: SendGuardedRequest = async (request, options) => {
  const { method, url, headers, body, maxBytes, signal } = request
  const send = options.fetch ?? ((to: URL, init: RequestInit) => fetch(to, init))
  const response = await send(url, {
    method,
    headers,
    body,
    signal,
    redirect: 'manual',
    credentials: 'omit',
  })
  if (maxBytes === 0) await response.body?.cancel()
  const text = maxBytes === 0 ? '' : await textOf(response, maxBytes)
  return { status: response.status, headers: response.headers, text }
}
