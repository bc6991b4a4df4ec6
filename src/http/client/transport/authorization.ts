import { isList, type Message } from '../../../jsonrpc/message.ts'
import {
  type AuthorizedRequest,
  type Credentials,
  isRefusalOfCredentials,
  notAuthorized,
} from '../../../mcp/credentials.ts'
import { mirroredParam } from '../../../mcp/methods.ts'
import { limits } from '../../../util/limits/limits.ts'
import { ownMember } from '../../../util/objects.ts'
import { abortable } from '../../../util/promises.ts'
import type { Clock, Timer } from '../../../util/time/clock.ts'
import type { HttpHeaders, HttpSettings } from '../options.ts'
import type { AbortHandle, ClientRequest, HttpResponse } from './http-client.ts'

/** The time in which the headers of a response must arrive. It can be stopped and started anew. */
export interface ResponseDeadline {
  start(): void
  stop(): void
}

/**
 * Authorizes the requests of one channel with the credentials of its owner. A request that is refused with 401
 * or 403 was not executed, so it is sent again if the credentials find a way, for example by logging in.
 */
export class Authorization {
  /** Called with true when requests wait for credentials, and with false when none does any more. */
  onSuspended: ((isSuspended: boolean) => void) | undefined
  readonly #credentials: Credentials
  readonly #server: URL
  readonly #clock: Clock
  readonly #bodyTimeoutMs: number
  #waiting = 0
  #timer: Timer | undefined
  #isSuspended = false

  constructor(credentials: Credentials, server: URL, settings: HttpSettings) {
    this.#credentials = credentials
    this.#server = server
    this.#clock = settings.clock
    this.#bodyTimeoutMs = settings.bodyTimeoutMs
  }

  /** Identifies who is authenticated. */
  get identity(): string {
    return this.#credentials.identity
  }

  /**
   * Sends a request with credentials by `once`, again after each refusal that the credentials resolve. Rejects
   * with a ChannelError `'refused'` whose cause is the error of the credentials. `deadline` stands still
   * while the request waits for credentials.
   */
  async send(
    request: ClientRequest,
    url: URL,
    deadline: ResponseDeadline | undefined,
    once: (headers: HttpHeaders) => Promise<HttpResponse>,
  ): Promise<HttpResponse> {
    const { method, handle, message } = request
    const asked: AuthorizedRequest = { method, url, server: this.#server }
    for (;;) {
      const sent = await this.#headers(asked, handle, deadline)
      const response = await once(sent)
      const nonce = response.header('dpop-nonce')
      if (nonce !== null) this.#credentials.onNonce?.(nonce, url)
      // The end of a session is no reason to ask a user to log in.
      if (!isRefusalOfCredentials(response.status) || method === 'DELETE') return response
      // Read first, so that nobody's connection is occupied while a user logs in.
      const refusal = await this.#buffered(response)
      const { status, headers, remoteAddress: address } = refusal
      const operation = operationOf(message) ?? method
      const refused = { ...asked, status, headers, sent, operation, address, request }
      const again = (signal: AbortSignal) => this.#credentials.refused(refused, signal)
      if (!(await this.#wait(again, asked, handle, deadline))) return refusal
    }
  }

  #headers(
    asked: AuthorizedRequest,
    handle: AbortHandle,
    deadline: ResponseDeadline | undefined,
  ): HttpHeaders | Promise<HttpHeaders> {
    try {
      const made = this.#credentials.headers(asked)
      return made instanceof Promise ? this.#wait(() => made, asked, handle, deadline) : made
    } catch (cause) {
      throw notAuthorized(asked, cause)
    }
  }

  /** Waits for the credentials, which stops all timeouts of the request. */
  async #wait<T>(
    work: (signal: AbortSignal) => Promise<T>,
    asked: AuthorizedRequest,
    handle: AbortHandle,
    deadline: ResponseDeadline | undefined,
  ): Promise<T> {
    if (handle.isAborted) throw handle.reason
    const controller = new AbortController()
    handle.onAbort = () => controller.abort(handle.reason)
    deadline?.stop()
    this.#beginWait()
    try {
      return await abortable(work(controller.signal), controller.signal)
    } catch (cause) {
      if (handle.isAborted) throw handle.reason
      throw notAuthorized(asked, cause)
    } finally {
      handle.onAbort = undefined
      deadline?.start()
      this.#endWait()
    }
  }

  /** Reports only waits that last: a proof that is signed within a millisecond suspends nothing. */
  #beginWait(): void {
    if (this.#waiting++ > 0) return
    this.#timer = this.#clock.start(() => {
      this.#timer = undefined
      this.#isSuspended = true
      this.onSuspended?.(true)
    }, SHORT_WAIT_MS)
    this.#timer.unref()
  }

  #endWait(): void {
    if (--this.#waiting > 0) return
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#timer = undefined
    if (!this.#isSuspended) return
    this.#isSuspended = false
    this.onSuspended?.(false)
  }

  /** Reads the body of a refusal, so that it can still be read later; an unreadable one is empty. */
  async #buffered(response: HttpResponse): Promise<HttpResponse> {
    const { status, statusText, headers, remoteAddress } = response
    const timer = this.#clock.start(() => response.discard(), this.#bodyTimeoutMs)
    let body: Uint8Array | undefined
    try {
      body = await response.whole(limits.httpErrorBodyBytes.default)
    } catch {
      // The status and the headers are enough.
    } finally {
      this.#clock.stop(timer)
    }
    const bytes = body ?? new Uint8Array(0)
    return {
      status,
      statusText,
      headers,
      remoteAddress,
      header: name => headers.get(name),
      whole: () => bytes,
      each: async take => void (await take(bytes)),
      discard: () => {},
    }
  }
}

/** A wait for credentials that is shorter than this is not reported. */
const SHORT_WAIT_MS = 10

/** Returns what a message requests: its method, and the tool, prompt or resource that it names. */
function operationOf(message: Message | readonly Message[] | undefined): string | undefined {
  if (message === undefined) return undefined
  if (isList(message)) return 'batch'
  if (!('method' in message)) return undefined
  const { method, params } = message
  const mirrored = mirroredParam(method)
  const name = mirrored === undefined ? undefined : ownMember(params, mirrored)
  return typeof name === 'string' ? `${method} ${name}` : method
}
