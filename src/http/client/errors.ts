import { ChannelError } from '../../jsonrpc/channel.ts'
import { errorWords } from '../../util/error-words.ts'
import type { Answer } from './transport/http-client.ts'

/** An answer over HTTP that is none of the protocol's. The cause of the ChannelError that callers get. */
export class HttpRefusal extends Error {
  readonly status: number
  /** The headers of the answer, such as `www-authenticate`. */
  readonly headers: Headers

  constructor(what: string, answer: Answer, words?: string) {
    const phrase = answer.statusText === '' ? '' : ` ${answer.statusText}`
    super(`${what} was answered ${answer.status}${phrase}${words ? `: ${words}` : ''}`)
    this.name = 'HttpRefusal'
    this.status = answer.status
    this.headers = answer.headers
  }
}

/** Whether a status says who may not ask, rather than anything about what was asked. */
export function isDenial(status: number): boolean {
  return status === 401 || status === 403 || status === 407
}

/** Whether a status says that nothing can be answered now, rather than anything about the protocol. */
export function isOutage(status: number): boolean {
  if (status === 501) return false
  return status >= 500 || status === 408 || status === 425 || status === 429
}

/** The failure of a request that was answered with a status and nothing to read. */
export function refusal(what: string, answer: Answer, words?: string): ChannelError {
  const cause = new HttpRefusal(what, answer, words)
  const { status } = answer
  // Other failures of servers and gateways leave open how far a request came.
  if (status >= 500 && status !== 501 && status !== 503) {
    return new ChannelError('outcome-unknown', cause.message, { cause })
  }
  return new ChannelError('refused', cause.message, { cause })
}

/**
 * What a request that could not be carried means: `'closed'` when nothing can have left this machine,
 * `'refused'` when the other side is not the one it should be, and else that nobody knows how far it came.
 */
export function carrierFailure(what: string, error: unknown): ChannelError {
  if (error instanceof ChannelError) return error
  const code = codeOf(error)
  return unsent.has(code) || isDistrust(code)
    ? unsentFailure(what, error)
    : lostFailure(what, error)
}

/** The failure of a request of which nothing was sent. */
export function unsentFailure(what: string, error: unknown): ChannelError {
  const code = isDistrust(codeOf(error)) ? 'refused' : 'closed'
  return new ChannelError(code, `${what}: ${wordsOf(error)}`, { cause: error })
}

/** The failure of a request that may have come to the server. */
export function lostFailure(what: string, error: unknown): ChannelError {
  const words = `${what}: ${wordsOf(error)}; it may have been carried out`
  return new ChannelError('outcome-unknown', words, { cause: error })
}

/** Whether a code says that the other side could not show who it is. */
function isDistrust(code: string): boolean {
  return /CERT|TLS|SSL|SIGNED|UNABLE_TO/.test(code)
}

/** What fails before a connection exists. */
const unsent: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** The code of the failure itself, which fetch hides behind an error of its own. */
function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    const code: unknown = Reflect.get(at, 'code')
    if (typeof code === 'string') return code
  }
  return ''
}

function wordsOf(error: unknown): string {
  let words = errorWords(error)
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at.message !== '') words = at.message
  }
  return words === '' || words === 'fetch failed' ? codeOf(error) || 'the connection failed' : words
}
