import { request } from 'node:http'
import { consoleOf } from '../../src/console/console.ts'
import type { ConsoleOptions } from '../../src/console/options.ts'
import type { ConsoleFrame } from '../../src/console/wire.ts'
import { listen } from '../../src/listen.ts'
import { observe } from '../../src/observe/observe.ts'
import type { RouterOptions } from '../../src/router/options.ts'
import { Router } from '../../src/router/router.ts'
import { Server } from '../../src/server/server.ts'

/** A server whose tools echo, fail, wait and hold. */
export function demoServer(): Server {
  const server = new Server({ name: 'demo', version: '1' })
  const input = { type: 'object', properties: { text: { type: 'string' } } } as const
  server.tool('echo', { description: 'Returns its text.', input }, ({ text }) => String(text))
  server.tool('fail', { description: 'Fails.', input }, () => {
    throw new Error('it failed')
  })
  server.tool('secret', { description: 'Is hidden.', input }, () => 'hidden')
  return server
}

/** A router with a console, served at an address of this machine. */
export async function serveConsole(options: ConsoleOptions = {}, router: RouterOptions = {}) {
  const endpoint = new Router({
    servers: { demo: { server: demoServer(), tools: { deny: ['secret'] } } },
    onError: () => {},
    ...router,
  })
  const observer = observe({ endpoint })
  const page = consoleOf(endpoint, { observer, ...options })
  const listener = await listen(endpoint, 'http://127.0.0.1:0/mcp', { beside: page })
  await endpoint.ready()
  const base = new URL('/console/', listener.address).href
  return {
    router: endpoint,
    observer,
    page,
    address: listener.address,
    base,
    link: page.link(listener.address),
    close: async () => {
      await listener.close()
      await page.close()
      await observer.close()
      await endpoint.close()
    },
  }
}

/** What a test sends. */
export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends a request as it is: `fetch` would replace the header `Host`. */
export function send(url: string, { method = 'GET', headers = {}, body }: Sent = {}) {
  return new Promise<{
    readonly status: number
    readonly headers: NodeJS.Dict<string | string[]>
    readonly text: string
  }>((resolve, reject) => {
    const sent = request(url, { method, headers }, response => {
      const status = response.statusCode ?? 0
      // A stream has no end.
      if (response.headers['content-type'] === 'text/event-stream') {
        response.destroy()
        resolve({ status, headers: response.headers, text: '' })
        return
      }
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status, headers: response.headers, text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** A console that a test sends requests to. */
export interface ServedConsole {
  readonly base: string
  readonly page: { readonly key: string }
}

/** Sends a GET request with the key and returns the JSON of the answer. */
export async function readJson({ base, page }: ServedConsole, path: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${page.key}` }
  return JSON.parse((await send(`${base}${path}`, { headers })).text)
}

/** Sends a POST request with the key and JSON. */
export async function postJson({ base, page }: ServedConsole, path: string, body: unknown) {
  const headers = { authorization: `Bearer ${page.key}`, 'content-type': 'application/json' }
  const { status, text } = await send(`${base}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  // The check: every answer of the console is a JSON object.
  return { status, body: JSON.parse(text) as Record<string, unknown> }
}

/** Opens the stream of a console and collects its frames. */
export async function watchFrames(base: string, key: string, topics: string, page?: string) {
  const stop = new AbortController()
  const named = page === undefined ? '' : `&page=${page}`
  const response = await fetch(`${base}api/stream?topics=${topics}${named}`, {
    headers: { authorization: `Bearer ${key}` },
    signal: stop.signal,
  })
  const frames: ConsoleFrame[] = []
  const read = async (): Promise<void> => {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    for (;;) {
      const { value, done } = (await reader?.read()) ?? { done: true }
      if (done) return
      text += value
      const events = text.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        // The check: the console sends frames only.
        if (event.startsWith('data: ')) frames.push(JSON.parse(event.slice(6)) as ConsoleFrame)
      }
    }
  }
  const ended = read().catch(() => {})
  return {
    status: response.status,
    frames,
    ended,
    close: async () => {
      stop.abort()
      await ended
    },
  }
}
