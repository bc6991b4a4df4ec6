import { joined } from '../../server/body.ts'
import type { Answer, Carrier } from './http-client.ts'

/** Carries requests by a function like the global `fetch`. */
export function fetchCarrier(fetch: (url: URL, init: RequestInit) => Promise<Response>): Carrier {
  return {
    ask: async ({ method, url, headers, added, body, hold }) => {
      const all = new Headers(added)
      for (const [name, value] of Object.entries(headers)) all.set(name, value)
      const controller = new AbortController()
      const { signal } = controller
      hold.onDrop = () => controller.abort(hold.reason)
      return answerOf(await fetch(url, { method, headers: all, body, signal, redirect: 'manual' }))
    },
    close: () => {},
  }
}

/** A response as an answer. */
export function answerOf(response: Response): Answer {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  let isDropped = false
  const drop = (): void => {
    if (isDropped) return
    isDropped = true
    const left = reader?.cancel() ?? (response.bodyUsed ? undefined : response.body?.cancel())
    left?.then(undefined, () => {})
  }
  const each: Answer['each'] = async take => {
    reader = response.body?.getReader()
    while (reader !== undefined && !isDropped) {
      const { value, done } = await reader.read()
      if (done || isDropped) return
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
      const chunks: Uint8Array[] = []
      let size = 0
      await each(piece => {
        size += piece.length
        if (size > maxBytes) drop()
        else chunks.push(piece)
      })
      return size > maxBytes ? undefined : joined(chunks, size)
    },
    each,
    drop,
  }
}
