import { ChannelError } from '../../jsonrpc/channel.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { isPlainAnswer } from '../../util/tls.ts'
import type { HttpResponse } from './transport/http-client.ts'

/**
 * An HTTP response that is not a JSON-RPC response. It is the cause of the ChannelError that callers
 * get.
 */
export class HttpStatusError extends Error {
  readonly status: number
  /** The headers of the response, such as `www-authenticate`. */
  readonly headers: Headers

  constructor(what: string, response: HttpResponse, words?: string) {
    const phrase = response.statusText === '' ? '' : ` ${response.statusText}`
    super(`${what} was answered ${response.status}${phrase}${words ? `: ${words}` : ''}`)
    this.name = 'HttpStatusError'
    this.status = response.status
    this.headers = response.headers
  }
}

/** Whether a status rejects the caller rather than the request. */
export function isAuthError(status: number): boolean {
  return status === 401 || status === 403 || status === 407
}

/** Whether a status reports a temporary failure rather than anything about the protocol. */
export function isTemporaryStatus(status: number): boolean {
  if (status === 501) return false
  return status >= 500 || status === 408 || status === 425 || status === 429
}

/** Makes the error of a request that was answered with a status and no readable body. */
export function statusError(what: string, response: HttpResponse, words?: string): ChannelError {
  const cause = new HttpStatusError(what, response, words)
  const { status } = response
  const summary = `it answered ${status}`
  // Other 5xx statuses of servers and gateways leave open how far the request got.
  if (status >= 500 && status !== 501 && status !== 503) {
    return new ChannelError('outcome-unknown', cause.message, { cause, summary })
  }
  return new ChannelError('refused', cause.message, { cause, summary })
}

/**
 * Makes the ChannelError for a request that failed in transport: `'closed'` if nothing can have been
 * sent, `'refused'` if the server's identity could not be verified, otherwise `'outcome-unknown'`.
 */
export function requestFailure(what: string, error: unknown): ChannelError {
  if (error instanceof ChannelError) return error
  const code = codeOf(error)
  return unsentCodes.has(code) || isTlsError(code)
    ? unsentFailure(what, error)
    : lostFailure(what, error)
}

/** Makes the error of a request of which nothing was sent. */
export function unsentFailure(what: string, error: unknown): ChannelError {
  const code = isTlsError(codeOf(error)) ? 'refused' : 'closed'
  return new ChannelError(code, `${what}: ${describe(error)}`, { cause: error })
}

/** Makes the error of a request that the server may have received. */
export function lostFailure(what: string, error: unknown): ChannelError {
  const words = `${what}: ${describe(error)}; the request may have been executed`
  return new ChannelError('outcome-unknown', words, { cause: error })
}

/** Whether an error code says that the server's certificate or TLS handshake failed. */
function isTlsError(code: string): boolean {
  return /CERT|TLS|SSL|SIGNED|UNABLE_TO/.test(code)
}

/** Codes of failures before a connection exists. */
const unsentCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Returns the code of the underlying failure, which fetch wraps in an error of its own. */
function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code: unknown = Reflect.get(at, 'code')
    if (typeof code === 'string') return code
  }
  return ''
}

function describe(error: unknown): string {
  let words = errorMessage(error)
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at.message !== '') words = at.message
  }
  if (isPlainAnswer(codeOf(error), words))
    return 'the server does not speak TLS; use http: instead?'
  return words === '' || words === 'fetch failed' ? codeOf(error) || 'the connection failed' : words
}
