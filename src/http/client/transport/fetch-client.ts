import { ByteBuffer } from '../../../wire/byte-buffer.ts'
import type { HttpClient, HttpResponse } from './http-client.ts'

/** Makes an HttpClient that uses a function like the global `fetch`. */
export function fetchClient(fetch: (url: URL, init: RequestInit) => Promise<Response>): HttpClient {
  return {
    send: async ({ method, url, headers, added, body, handle }) => {
      const all = new Headers(added)
      for (const [name, value] of Object.entries(headers)) all.set(name, value)
      const controller = new AbortController()
      const { signal } = controller
      handle.onAbort = () => controller.abort(handle.reason)
      return toHttpResponse(
        await fetch(url, { method, headers: all, body, signal, redirect: 'manual' }),
      )
    },
    close: () => {},
  }
}

/** Adapts a fetch `Response`. */
export function toHttpResponse(response: Response): HttpResponse {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  let isDiscarded = false
  const discard = (): void => {
    if (isDiscarded) return
    isDiscarded = true
    const left = reader?.cancel() ?? (response.bodyUsed ? undefined : response.body?.cancel())
    left?.then(undefined, () => {})
  }
  const each: HttpResponse['each'] = async take => {
    reader = response.body?.getReader()
    while (reader !== undefined && !isDiscarded) {
      const { value, done } = await reader.read()
      if (done || isDiscarded) return
      const room = take(value)
      if (room !== undefined) await room
    }
  }
  return {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
    header: name => response.headers.get(name),
    whole: async maxBytes => {
      const body = new ByteBuffer(maxBytes)
      let isTooLarge = false
      await each(piece => {
        isTooLarge ||= body.size + piece.length > maxBytes
        if (isTooLarge) discard()
        else body.add(piece, 0, piece.length)
      })
      return isTooLarge ? undefined : body.take()
    },
    each,
    discard,
  }
}
