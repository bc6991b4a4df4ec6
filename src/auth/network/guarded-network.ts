import { limits } from '../../util/limits/limits.ts'
import { addressText } from '../../util/text/address-text.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { AuthError } from '../auth-error.ts'
import { type AddressClass, addressClass } from './address-class.ts'
import type {
  GuardedRequest,
  NetworkOptions,
  NetworkReach,
  SendGuardedRequest,
} from './guarded-request.ts'
import type { NetworkRequest, NetworkResponse } from './network.ts'

/**
 * The only way by which authorization sends requests. It checks every address before a connection is opened,
 * limits size and time, follows redirects for documents only and within their origin, and sends neither cookies
 * nor headers of the program.
 */
export class GuardedNetwork {
  readonly #options: NetworkOptions
  #reach: NetworkReach

  constructor(options: NetworkOptions = {}) {
    this.#options = options
    this.#reach = options.reach ?? 'public'
  }

  /** How far requests may reach. */
  get reach(): NetworkReach {
    return this.#reach
  }

  /**
   * Allows requests to reach as far as this IP address, at which the MCP server was reached. Without an address,
   * a host that names this machine, or is an IP address, decides. An option `reach` takes precedence.
   */
  reachAs(server: URL, address: string | undefined): void {
    if (this.#options.reach !== undefined) return
    const known = addressClass(address ?? hostOf(server))
    const found = known ?? (isLocalName(hostOf(server)) ? 'loopback' : 'public')
    // A server that the user has chosen at a link-local address gives no access to others there.
    this.#reach = found === 'forbidden' ? 'public' : found
  }

  /** Gets a document. A redirect within its origin is followed. */
  async get(url: URL, signal: AbortSignal | undefined): Promise<NetworkResponse> {
    let target = url
    for (let redirects = 0; ; redirects++) {
      const response = await this.#send(target, {
        method: 'GET',
        headers: { accept: 'application/json' },
        maxBytes: limits.metadataBytes.default,
        timeoutMs: limits.metadataMs.default,
        signal,
      })
      const next = redirectOf(response, target)
      if (next === undefined || redirects >= limits.metadataRedirects.default) return response
      target = next
    }
  }

  /** Posts a form or a JSON document. Redirects are never followed, because the body is secret. */
  post(
    url: URL,
    body: URLSearchParams | object,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<NetworkResponse> {
    const isForm = body instanceof URLSearchParams
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
    return this.#send(url, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': type, ...headers },
      body: isForm ? body.toString() : JSON.stringify(body),
      maxBytes: limits.tokenAnswerBytes.default,
      timeoutMs: limits.tokenRequestMs.default,
      signal,
    })
  }

  /**
   * Sends the MCP server a request without credentials, and resolves to the head of the response. The user has
   * chosen that server, so it may be anywhere.
   */
  async probe(
    server: URL,
    body: object,
    signal: AbortSignal | undefined,
  ): Promise<NetworkResponse> {
    return this.#attempt(server, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
      maxBytes: 0,
      timeoutMs: limits.tokenRequestMs.default,
      signal,
      checkAddress: () => {},
    })
  }

  /** Sends a request to a URL that the operator has chosen. Later requests may reach as far as its address. */
  async sendChosen(url: URL, request: NetworkRequest): Promise<NetworkResponse> {
    const response = await this.#attempt(url, { ...attemptOf(request), checkAddress: () => {} })
    this.reachAs(url, response.address)
    return response
  }

  /** Sends a request to a URL that a document names. Redirects are not followed. */
  async sendNamed(url: URL, request: NetworkRequest): Promise<NetworkResponse> {
    return this.#send(url, attemptOf(request))
  }

  /**
   * Throws an AuthError `'insecure'` for a URL that must not be requested, or shown to a user: only `https:`,
   * and `http:` on this machine if the MCP server is there too.
   */
  check(url: URL): void {
    const { protocol, username, password } = url
    const host = hostOf(url)
    const is = addressClass(host) ?? (isLocalName(host) ? 'loopback' : undefined)
    if (username !== '' || password !== '') throw insecure(url, 'it contains a password')
    const isPlainAllowed = is === 'loopback' && this.#reach === 'loopback'
    if (protocol !== 'https:' && !(protocol === 'http:' && isPlainAllowed))
      throw insecure(url, 'it is not an https: URL')
    if (is !== undefined) this.#checkClass(is, url)
  }

  #send(url: URL, request: Omit<Attempt, 'checkAddress'>): Promise<NetworkResponse> {
    this.check(url)
    const checkAddress = (address: string): void =>
      this.#checkClass(addressClass(address) ?? 'forbidden', url)
    return this.#attempt(url, { ...request, checkAddress })
  }

  async #attempt(url: URL, { timeoutMs, signal, ...request }: Attempt): Promise<NetworkResponse> {
    signal?.throwIfAborted()
    const late = AbortSignal.timeout(timeoutMs)
    const send = await sender(this.#options)
    try {
      const both = signal === undefined ? late : AbortSignal.any([signal, late])
      return await send({ ...request, url, signal: both }, this.#options)
    } catch (cause) {
      signal?.throwIfAborted()
      const known = authErrorIn(cause)
      if (known !== undefined) throw known
      const why = late.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(cause)
      throw new AuthError('unreachable', `${request.method} ${addressText(url)}: ${why}`, { cause })
    }
  }

  #checkClass(is: AddressClass, url: URL): void {
    if (is === 'public') return
    const allowed = reachable[this.#reach]
    if (!allowed.includes(is)) throw insecure(url, `its address is ${words[is]}`)
  }
}

type Attempt = Omit<GuardedRequest, 'url' | 'signal'> & {
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

function attemptOf(request: NetworkRequest): Omit<Attempt, 'checkAddress'> {
  const { method = 'GET', headers, body, maxBytes, timeoutMs } = request
  const all = { accept: 'application/json', ...headers }
  return {
    method,
    headers: all,
    ...(body !== undefined && { body }),
    maxBytes,
    timeoutMs,
    signal: undefined,
  }
}

const reachable: Readonly<Record<NetworkReach, readonly AddressClass[]>> = {
  public: [],
  private: ['private'],
  loopback: ['private', 'loopback'],
}

const words: Readonly<Record<AddressClass, string>> = {
  public: 'public',
  private: 'in a local network, but that of the MCP server is not (network.reach allows it)',
  loopback: 'on this machine, but the MCP server is not (network.reach allows it)',
  forbidden: 'reserved',
}

async function sender(options: NetworkOptions): Promise<SendGuardedRequest> {
  const isNode = typeof globalThis.process?.versions?.node === 'string'
  if (options.fetch !== undefined || !isNode)
    return (await import('./fetch-request.ts')).sendByFetch
  return (await import('./node-request.ts')).sendByNode
}

/** Returns the target of a redirect that may be followed; undefined for any other response. */
function redirectOf({ status, headers }: NetworkResponse, from: URL): URL | undefined {
  const location = headers.get('location')
  if (![301, 302, 303, 307, 308].includes(status) || location === null) return undefined
  if (!URL.canParse(location, from.href)) return undefined
  const target = new URL(location, from)
  return target.origin === from.origin ? target : undefined
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/** Whether a host name stands for this machine by RFC 6761. */
function isLocalName(host: string): boolean {
  return /^(?:.+\.)?localhost\.?$/i.test(host)
}

function insecure(url: URL, why: string): AuthError {
  return new AuthError('insecure', `${addressText(url)} must not be used: ${why}`)
}

/** Returns the AuthError at the root of a failure, which transports wrap in errors of their own. */
function authErrorIn(failure: unknown): AuthError | undefined {
  for (let at = failure; at instanceof Error; at = at.cause) {
    if (at instanceof AuthError) return at
  }
  return undefined
}

function reasonOf(failure: unknown): string {
  let reason = errorMessage(failure)
  for (let at = failure; at instanceof Error; at = at.cause) {
    if (at.message !== '') reason = at.message
  }
  return reason
}
