import { ChannelError } from '../jsonrpc/channel.ts'
import { limits } from '../util/limits.ts'
import { fetchFailure } from './client-failure.ts'
import type { HttpAsking, HttpSettings } from './client-options.ts'

/** One request over HTTP, its redirects included. */
export interface WebRequest extends HttpAsking {
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Gives it up, and the reading of its answer with it. */
  readonly abort: AbortController
  /** How long the headers of the answer may take; without it, as long as nobody gives it up. */
  readonly limitMs?: number
}

/**
 * Makes requests over HTTP. Never sends anything to another origin than the one it was given: what is
 * redirected there fails. Rejects with a ChannelError, or the reason of an abort.
 */
export class Web {
  readonly #settings: HttpSettings

  constructor(settings: HttpSettings) {
    this.#settings = settings
  }

  async ask(request: WebRequest): Promise<Response> {
    const what = `${request.method} ${request.url.href}`
    const { clock } = this.#settings
    const { limitMs, abort } = request
    const late = () => abort.abort(new ChannelError('timeout', `${what}: no answer in time`))
    const timer = limitMs === undefined ? undefined : clock.start(late, limitMs)
    try {
      return await this.#follow(request, what)
    } catch (error) {
      abort.signal.throwIfAborted()
      throw fetchFailure(what, error)
    } finally {
      if (timer !== undefined) clock.stop(timer)
    }
  }

  async #follow(request: WebRequest, what: string): Promise<Response> {
    let { url } = request
    for (let redirects = 0; ; redirects++) {
      const response = await this.#once(request, url)
      const { status } = response
      // A browser does not tell where it leads, nor its status.
      if (response.type === 'opaqueredirect') throw redirected(what, 'elsewhere')
      if (status < 300 || status >= 400 || status === 304) return response
      drop(response)
      const target = targetOf(response, url)
      if (target === undefined) throw redirected(what, 'nowhere')
      if (target.origin !== url.origin || target.username !== '' || target.password !== '') {
        throw redirected(what, `to ${target.origin}, another origin`)
      }
      // The others turn into a GET on the way, and what was to be sent is lost.
      if (status !== 307 && status !== 308) throw redirected(what, `with ${status}`)
      if (redirects >= limits.httpRedirects.default) throw redirected(what, 'too often')
      url = target
    }
  }

  async #once({ method, headers, body, abort }: WebRequest, url: URL): Promise<Response> {
    const { signal } = abort
    const all = await addedHeaders(this.#settings, { method, url })
    signal.throwIfAborted()
    for (const [name, value] of Object.entries(headers)) all.set(name, value)
    return this.#settings.fetch(url, { method, headers: all, body, signal, redirect: 'manual' })
  }
}

async function addedHeaders(settings: HttpSettings, asking: HttpAsking): Promise<Headers> {
  try {
    return new Headers(await settings.headers(asking))
  } catch (cause) {
    // Nothing has been sent, and trying again would fail again.
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new ChannelError('refused', `making the headers: ${why}`, { cause })
  }
}

/** Takes no more of an answer. */
export function drop(response: Response): void {
  if (!response.bodyUsed) response.body?.cancel().then(undefined, () => {})
}

/** The media type of an answer in lower case, without parameters. */
export function mediaType(response: Response): string {
  return (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** The whole body, or undefined as soon as it is larger than `maxBytes`. Rejects when it breaks off. */
export async function readBody(
  response: Response,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  if (response.body === null) return new Uint8Array(0)
  const reader = response.body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { value, done } = await reader.read()
    if (done) break
    size += value.length
    if (size > maxBytes) {
      reader.cancel().then(undefined, () => {})
      return undefined
    }
    chunks.push(value)
  }
  const [first] = chunks
  if (first !== undefined && chunks.length === 1) return first
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

function targetOf(response: Response, from: URL): URL | undefined {
  const location = response.headers.get('location')
  if (location === null) return undefined
  try {
    return new URL(location, from)
  } catch {
    return undefined
  }
}

function redirected(what: string, where: string): ChannelError {
  return new ChannelError('refused', `${what} was redirected ${where}, which is not followed`)
}
