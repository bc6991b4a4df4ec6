import { ByteBuffer } from '../../wire/byte-buffer.ts'
import type { SendNetworkRequest } from './network.ts'

/** Sends a request by `fetch`: that of the options, or the global one. Cannot check the addresses of host names. */
export const sendByFetch: SendNetworkRequest = async (request, options) => {
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
  const reader = response.body?.getReader()
  if (maxBytes === 0) {
    await reader?.cancel()
    return { status: response.status, headers: response.headers, text: '' }
  }
  const bytes = new ByteBuffer(maxBytes)
  for (;;) {
    const { value, done } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done) break
    if (bytes.size + value.length > maxBytes) {
      await reader?.cancel()
      throw new Error(`the answer has more than ${maxBytes} bytes`)
    }
    bytes.add(value, 0, value.length)
  }
  const text = new TextDecoder().decode(bytes.take())
  return { status: response.status, headers: response.headers, text }
}
