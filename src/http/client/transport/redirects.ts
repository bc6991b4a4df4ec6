import { ChannelError } from '../../../jsonrpc/channel.ts'
import { errorWords } from '../../../util/error-words.ts'
import { limits } from '../../../util/limits/limits.ts'
import { promised } from '../../../util/promised.ts'
import { carrierFailure } from '../errors.ts'
import type { HttpAsking, HttpHeaders, HttpSettings } from '../options.ts'
import { fetchCarrier } from './fetch-client.ts'
import type { Answer, Carried, Carrier } from './http-client.ts'

/** One request over HTTP, its redirects included. */
export interface WebRequest extends Omit<Carried, 'added'> {
  /** How long the headers of the answer may take; without it, as long as nobody gives it up. */
  readonly limitMs?: number
}

/**
 * Makes requests over HTTP: by connections of its own where there is Node, and by `fetch` elsewhere or
 * where the caller gave one. Never sends anything to another origin than the one it was given: what is
 * redirected there fails. Rejects with a ChannelError, or the reason of the hold.
 */
export class Web {
  readonly #settings: HttpSettings
  #carrier: Carrier | undefined
  #loading: Promise<Carrier> | undefined
  #isClosed = false

  constructor(settings: HttpSettings) {
    this.#settings = settings
    if (settings.fetch !== undefined) this.#carrier = fetchCarrier(settings.fetch)
  }

  async ask(request: WebRequest): Promise<Answer> {
    const { clock } = this.#settings
    const { limitMs, hold } = request
    const late = () => {
      hold.drop(new ChannelError('timeout', `${wordsOf(request)}: no answer in time`))
    }
    const timer = limitMs === undefined ? undefined : clock.start(late, limitMs)
    try {
      let { url } = request
      for (let redirects = 0; ; redirects++) {
        const answer = await this.#once(request, url)
        if (!isRedirect(answer.status)) return answer
        answer.drop()
        url = targetOf(answer, url, redirects, wordsOf(request))
      }
    } catch (error) {
      if (hold.isDropped) throw hold.reason
      throw carrierFailure(wordsOf(request), error)
    } finally {
      if (timer !== undefined) clock.stop(timer)
    }
  }

  /** Lets go of all connections. Nothing can be asked afterwards. */
  close(): void {
    this.#isClosed = true
    this.#carrier?.close()
  }

  #once(request: WebRequest, url: URL): Promise<Answer> {
    const carrier = this.#carrier
    if (carrier === undefined) return this.#load().then(() => this.#once(request, url))
    const added = this.#added({ method: request.method, url })
    return added instanceof Promise
      ? added.then(made => carry(carrier, request, url, made))
      : carry(carrier, request, url, added)
  }

  async #load(): Promise<void> {
    this.#loading ??= loadCarrier(this.#settings)
    this.#carrier = await this.#loading
    if (this.#isClosed) this.#carrier.close()
  }

  #added(asking: HttpAsking): HttpHeaders | Promise<HttpHeaders> {
    try {
      const made = promised(this.#settings.headers(asking))
      // The check: what is no promise is what the type says, headers.
      return made instanceof Promise ? made.catch(unmade) : (made as HttpHeaders)
    } catch (cause) {
      return unmade(cause)
    }
  }
}

function carry(
  carrier: Carrier,
  request: WebRequest,
  url: URL,
  added: HttpHeaders,
): Promise<Answer> {
  const { method, headers, body, hold, isBrief } = request
  if (hold.isDropped) throw hold.reason
  return carrier.ask({ method, url, headers, added, body, hold, isBrief })
}

async function loadCarrier(settings: HttpSettings): Promise<Carrier> {
  if (typeof globalThis.process?.versions?.node !== 'string') {
    return fetchCarrier((url, init) => fetch(url, init))
  }
  const { nodeCarrier } = await import('./node-pool.ts')
  return nodeCarrier(settings.clock, undefined, settings.traffic)
}

/** Nothing has been sent, and trying again would fail again. */
function unmade(cause: unknown): never {
  const why = errorWords(cause)
  throw new ChannelError('refused', `making the headers: ${why}`, { cause })
}

function isRedirect(status: number): boolean {
  // A browser does not tell where it leads, nor its status.
  return (status >= 300 && status < 400 && status !== 304) || status === 0
}

/** Where a redirect leads, if it may be followed. Throws a ChannelError otherwise. */
function targetOf(answer: Answer, from: URL, redirects: number, what: string): URL {
  const { status } = answer
  if (status === 0) throw redirected(what, 'elsewhere')
  const target = urlOf(answer.header('location'), from)
  if (target === undefined) throw redirected(what, 'nowhere')
  if (target.origin !== from.origin || target.username !== '' || target.password !== '') {
    throw redirected(what, `to ${target.origin}, another origin`)
  }
  // The others turn into a GET on the way, and what was to be sent is lost.
  if (status !== 307 && status !== 308) throw redirected(what, `with ${status}`)
  if (redirects >= limits.httpRedirects.default) throw redirected(what, 'too often')
  return target
}

function urlOf(location: string | null, from: URL): URL | undefined {
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

function wordsOf({ method, url }: HttpAsking): string {
  return `${method} ${url.href}`
}
