import { type Channel, ChannelError, type Envelope, type Sink } from '../../jsonrpc/channel.ts'
import type { Decoded, Message } from '../../jsonrpc/message.ts'
import { type AuthHeaders, authenticateMethod } from '../../mcp/authenticator.ts'
import { type Credentials, openWithCredentials } from '../../mcp/credentials.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { abortable } from '../../util/promises.ts'
import { addressText } from '../../util/text/address-text.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'

/** How a socket is opened. */
export interface SocketAuthentication {
  /** The address of the server, to which the credentials are bound. */
  readonly server: URL
  readonly credentials: Credentials
  /** Connects to the server. */
  readonly connect: () => Promise<Channel>
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock | undefined
}

/**
 * Connects to a server without HTTP headers, and sends the token in the first message, `trunkline/authenticate`. Connects
 * again if the token is refused and the credentials have another one. Rejects with a ChannelError `'refused'` or
 * `'timeout'`.
 */
export function authenticatedSocket(request: SocketAuthentication): Promise<Channel> {
  const { server, credentials, signal } = request
  return openWithCredentials(
    credentials,
    server,
    sent => open(request, sent),
    error => (error instanceof RefusedToken ? error.refusal : undefined),
    signal,
  )
}

async function open(
  { server, connect, signal, clock = systemClock }: SocketAuthentication,
  { authorization, dpop }: AuthHeaders,
): Promise<Channel> {
  const refuse = (why: string) => new ChannelError('refused', `${addressText(server)}: ${why}`)
  if (authorization === undefined)
    throw refuse('the credentials have no token; over sockets, use bearer(token)')
  if (dpop !== undefined) throw refuse('a token that is bound to a key cannot be sent over sockets')
  const channel = new AuthenticatedSocket(await connect())
  try {
    await abortable(channel.authenticate(server, authorization, clock), signal)
    return channel
  } catch (error) {
    await channel.close()
    throw error
  }
}

/** The server refuses the token. */
class RefusedToken extends ChannelError {
  readonly refusal = {
    status: 401,
    headers: new Headers({ 'www-authenticate': 'Bearer error="invalid_token"' }),
  }
}

/** The kinds of errors with which a server refuses a token. */
const refusalKinds = new Set<unknown>([
  'authentication_failed',
  'invalid_credentials',
  'invalid_token',
  'token_expired',
])

/** A channel that is opened to authenticate, and delivers to its sink later. */
class AuthenticatedSocket implements Channel {
  readonly halfOpen: boolean | undefined
  readonly #channel: Channel
  /** What has arrived before there was a sink. */
  #early: ((sink: Sink) => void | Promise<void>)[] = []
  #sink: Sink | undefined

  constructor(channel: Channel) {
    this.#channel = channel
    this.halfOpen = channel.halfOpen
  }

  /** Sends the token, and resolves when the server has accepted it. */
  authenticate(server: URL, authorization: string, clock: Clock): Promise<void> {
    const where = addressText(server)
    return new Promise((accept, reject) => {
      const timeoutMs = limits.socketAuthMs.default
      const timer = clock.start(() => {
        const words = `${where} did not answer ${authenticateMethod} within ${timeoutMs} ms`
        reject(new ChannelError('timeout', words))
      }, timeoutMs)
      const settle = (error?: Error) => {
        clock.stop(timer)
        if (error === undefined) accept()
        else reject(error)
      }
      let isAnswered = false
      this.#channel.open({
        receive: (arrival, envelope, bytes) => {
          if (isAnswered || !isAnswer(arrival))
            return this.#deliver(sink => sink.receive(arrival, envelope, bytes))
          isAnswered = true
          settle(refusalIn(arrival, where))
        },
        failed: (id, error) => this.#deliver(sink => sink.failed?.(id, error)),
        retired: cause => this.#deliver(sink => sink.retired?.(cause)),
        closed: (cause, isDrained) => {
          const words = `${where} closed the connection during ${authenticateMethod}`
          settle(new ChannelError('refused', words, { cause }))
          void this.#deliver(sink => sink.closed(cause, isDrained))
        },
      })
      const [scheme = '', credentials = ''] = authorization.split(' ')
      const params = { scheme, credentials }
      const first = { type: 'request', id: firstId, method: authenticateMethod, params } as const
      // A rejection means that the channel has closed, which is handled there.
      void Promise.resolve(this.#channel.send(first)).catch(() => {})
    })
  }

  open(sink: Sink): void {
    this.#sink = sink
    for (const deliver of this.#early.splice(0)) void deliver(sink)
  }

  send(message: Message | readonly Message[], envelope?: Envelope): void | Promise<void> {
    return this.#channel.send(message, envelope)
  }

  close(options?: { readonly isDrained?: boolean }): Promise<void> {
    return this.#channel.close(options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #deliver(deliver: (sink: Sink) => void | Promise<void>): void | Promise<void> {
    if (this.#sink !== undefined) return deliver(this.#sink)
    this.#early.push(deliver)
  }
}

/** The id of the first request, which is answered before there is any other. */
const firstId = 'authenticate'

type Answer = Extract<Decoded, { readonly type: 'result' | 'error' }>

function isAnswer(arrival: Decoded): arrival is Answer {
  return (arrival.type === 'result' || arrival.type === 'error') && arrival.id === firstId
}

function refusalIn(answer: Answer, where: string): ChannelError | undefined {
  if (answer.type === 'result') return undefined
  const { message, data } = answer.error
  if (isRecord(data) && refusalKinds.has(data.kind))
    return new RefusedToken('refused', `${where} refuses the token: ${message}`)
  const advice = 'if the server authenticates no callers, leave "auth" out'
  const words = `${where}: ${authenticateMethod} failed: ${message}; ${advice}`
  return new ChannelError('refused', words)
}
