import { ChannelError } from '../../../jsonrpc/channel.ts'
import { limits } from '../../../util/limits/limits.ts'
import { fromThenable } from '../../../util/promises.ts'
import { addressText } from '../../../util/text/address-text.ts'
import { errorMessage } from '../../../util/text/error-message.ts'
import type { Timer } from '../../../util/time/clock.ts'
import { HttpStatusError, requestFailure } from '../errors.ts'
import {
  type HttpHeaders,
  type HttpRequestInfo,
  type HttpSettings,
  namesAuthorization,
  twoAuthorizations,
} from '../options.ts'
import type { Authorization, ResponseDeadline } from './authorization.ts'
import { fetchClient } from './fetch-client.ts'
import type { ClientRequest, HttpClient, HttpResponse } from './http-client.ts'

/**
 * Sends HTTP requests and follows redirects within the origin. Uses its own connections on Node, and
 * `fetch` elsewhere or where the caller provides one. A redirect to another origin fails. Rejects with
 * a ChannelError, or with the reason of the handle.
 */
export class RedirectingClient {
  readonly #settings: HttpSettings
  readonly #authorization: Authorization | undefined
  #client: HttpClient | undefined
  #loading: Promise<HttpClient> | undefined
  #isClosed = false

  constructor(settings: HttpSettings, authorization?: Authorization) {
    this.#settings = settings
    this.#authorization = authorization
    if (settings.fetch !== undefined) this.#client = fetchClient(settings.fetch)
  }

  async send(request: ClientRequest): Promise<HttpResponse> {
    const { handle } = request
    const deadline = this.#deadline(request)
    deadline?.start()
    try {
      let { url } = request
      for (let redirects = 0; ; redirects++) {
        const response = await this.#authorized(request, url, deadline)
        if (!isRedirect(response.status)) return response
        response.discard()
        url = redirectTarget(response, url, redirects, describe(request))
      }
    } catch (error) {
      if (handle.isAborted) throw handle.reason
      throw requestFailure(describe(request), error)
    } finally {
      deadline?.stop()
    }
  }

  /** Closes all connections. Nothing can be sent afterwards. */
  close(): void {
    this.#isClosed = true
    this.#client?.close()
  }

  /** Sends a request without following redirects, with credentials if there are any. */
  #authorized(
    request: ClientRequest,
    url: URL,
    deadline: ResponseDeadline | undefined,
  ): Promise<HttpResponse> {
    if (this.#authorization === undefined) return this.#once(request, url)
    const once = (headers: HttpHeaders) => this.#once(request, url, headers)
    return this.#authorization.send(request, url, deadline, once)
  }

  #once(request: ClientRequest, url: URL, authorization?: HttpHeaders): Promise<HttpResponse> {
    const client = this.#client
    if (client === undefined)
      return this.#load().then(() => this.#once(request, url, authorization))
    const added = this.#added({ method: request.method, url })
    const send = (made: HttpHeaders) =>
      sendTo(client, request, url, authorization ? authorized(made, authorization) : made)
    return added instanceof Promise ? added.then(send) : send(added)
  }

  #deadline(request: ClientRequest): ResponseDeadline | undefined {
    const { limitMs, handle } = request
    if (limitMs === undefined) return undefined
    const { clock } = this.#settings
    const late = () => {
      handle.abort(new ChannelError('timeout', `${describe(request)}: no response in time`))
    }
    let timer: Timer | undefined
    return {
      start: () => {
        timer = clock.start(late, limitMs)
      },
      stop: () => {
        if (timer !== undefined) clock.stop(timer)
      },
    }
  }

  async #load(): Promise<void> {
    this.#loading ??= loadClient(this.#settings)
    this.#client = await this.#loading
    if (this.#isClosed) this.#client.close()
  }

  #added(info: HttpRequestInfo): HttpHeaders | Promise<HttpHeaders> {
    try {
      const made = fromThenable(this.#settings.headers(info))
      // The check: a value that is not a promise has the declared type, HttpHeaders.
      return made instanceof Promise ? made.catch(headersFailed) : (made as HttpHeaders)
    } catch (cause) {
      return headersFailed(cause)
    }
  }
}

function sendTo(
  client: HttpClient,
  request: ClientRequest,
  url: URL,
  added: HttpHeaders,
): Promise<HttpResponse> {
  const { method, headers, body, handle, isOneWay } = request
  if (handle.isAborted) throw handle.reason
  return client.send({ method, url, headers, added, body, handle, isOneWay })
}

/** Adds the headers of credentials to those of the caller, which must not authorize the request as well. */
function authorized(made: HttpHeaders, authorization: HttpHeaders): HttpHeaders {
  // Callers that the compiler has not checked may return `Headers`, as fetch accepts them.
  const own = made instanceof Headers ? Object.fromEntries(made) : made
  if (namesAuthorization(own)) throw new ChannelError('refused', twoAuthorizations)
  return { ...own, ...authorization }
}

async function loadClient(settings: HttpSettings): Promise<HttpClient> {
  if (typeof globalThis.process?.versions?.node !== 'string') {
    return fetchClient((url, init) => fetch(url, init))
  }
  const { nodeClient } = await import('./node-pool.ts')
  return nodeClient(settings.clock, undefined, settings.traffic, settings.ca)
}

/** Throws `'refused'`, because nothing has been sent and a retry would fail again. */
function headersFailed(cause: unknown): never {
  const why = errorMessage(cause)
  throw new ChannelError('refused', `the headers function failed: ${why}`, { cause })
}

function isRedirect(status: number): boolean {
  // A browser reveals neither the target nor the status of a redirect; it gives status 0.
  return (status >= 300 && status < 400 && status !== 304) || status === 0
}

/** Returns the target of a redirect that may be followed. Throws a ChannelError otherwise. */
function redirectTarget(response: HttpResponse, from: URL, redirects: number, what: string): URL {
  const { status } = response
  if (status === 0) throw redirected(what, response, 'to an unknown target')
  const target = urlOf(response.header('location'), from)
  if (target === undefined) throw redirected(what, response, 'without a valid location')
  if (target.origin !== from.origin || target.username !== '' || target.password !== '') {
    throw redirected(what, response, `to ${target.origin}, another origin`)
  }
  // Other redirects turn the request into a GET, and its body is lost.
  if (status !== 307 && status !== 308) throw redirected(what, response, `with ${status}`)
  if (redirects >= limits.httpRedirects.default) throw redirected(what, response, 'too many times')
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

function redirected(what: string, response: HttpResponse, where: string): ChannelError {
  const words = `${what} was redirected ${where}, which is not followed`
  return new ChannelError('refused', words, { cause: new HttpStatusError(what, response) })
}

function describe({ method, url }: HttpRequestInfo): string {
  return `${method} ${addressText(url)}`
}
