import type { Channel, Envelope, Principal, Sink } from '../../jsonrpc/channel.ts'
import type { Decoded, ErrorObject, Message } from '../../jsonrpc/message.ts'
import type { Authenticator, AuthRefusal } from '../../mcp/authenticator.ts'
import { limits } from '../../util/limits/limits.ts'
import { type Clock, longestDelayMs, systemClock, type Timer } from '../../util/time/clock.ts'

/** The method of the first message on a socket whose callers are authenticated. */
export const authenticateMethod = 'trunkline/authenticate'

/**
 * Guards a channel on which one caller sends all messages: a WebSocket after its handshake, or a socket with
 * a fixed principal. Messages carry the principal. Those that it may not send are answered with an error.
 * When its token expires, no further request is accepted, and the channel closes.
 */
export function guardedChannel(
  channel: Channel,
  principal: Principal | undefined,
  auth: Authenticator,
  clock: Clock = systemClock,
): Channel {
  return new GuardedChannel(channel, auth, clock, principal)
}

/**
 * Guards a channel whose caller sends its token in the first message, `trunkline/authenticate`. Anything
 * else first, a wrong token, or silence closes the channel.
 */
export function authenticatedChannel(
  channel: Channel,
  auth: Authenticator,
  clock: Clock = systemClock,
): Channel {
  return new GuardedChannel(channel, auth, clock)
}

class GuardedChannel implements Channel {
  readonly abandon: Channel['abandon']
  readonly poll: Channel['poll']
  readonly halfOpen: boolean | undefined
  readonly #channel: Channel
  readonly #auth: Authenticator
  readonly #clock: Clock
  /** Whether the caller is known. */
  #isOpen: boolean
  #principal: Principal | undefined
  #isExpired = false
  #timer: Timer | undefined

  constructor(
    channel: Channel,
    auth: Authenticator,
    clock: Clock,
    ...known: [principal?: Principal | undefined]
  ) {
    this.#channel = channel
    this.#auth = auth
    this.#clock = clock
    this.#isOpen = known.length > 0
    this.#principal = known[0]
    this.abandon = channel.abandon && (id => channel.abandon?.(id))
    this.poll = channel.poll && (about => channel.poll?.(about) ?? false)
    this.halfOpen = channel.halfOpen
  }

  open(sink: Sink): void {
    if (this.#isOpen) this.#watchExpiry()
    else this.#after(limits.socketAuthMs.default, () => void this.close())
    this.#channel.open({
      receive: (arrival, envelope) =>
        this.#isOpen ? this.#receive(sink, arrival, envelope) : this.#authenticate(arrival),
      ...(sink.failed && { failed: (id, error) => sink.failed?.(id, error) }),
      ...(sink.retired && { retired: cause => sink.retired?.(cause) }),
      closed: cause => {
        this.#stopTimer()
        sink.closed(cause)
      },
    })
  }

  send(message: Message | readonly Message[], envelope?: Envelope): void | Promise<void> {
    return this.#channel.send(message, envelope)
  }

  close(): Promise<void> {
    this.#stopTimer()
    return this.#channel.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #receive(sink: Sink, arrival: Decoded, envelope: Envelope): void | Promise<void> {
    const denied = this.#denialOf(arrival)
    if (denied === undefined)
      return sink.receive(arrival, { ...envelope, principal: this.#principal })
    const entries = arrival.type === 'batch' ? arrival.entries : [arrival]
    const replies = entries
      .filter(entry => entry.type === 'request')
      .map(({ id }): Message => ({ type: 'error', id, error: errorOf(denied) }))
    if (replies.length === 0) return
    void this.#channel.send(arrival.type === 'batch' ? replies : (replies[0] ?? []))
  }

  /** Why the caller may not send what has arrived; undefined where it may. Responses are always accepted. */
  #denialOf(arrival: Decoded): AuthRefusal | undefined {
    const entries = arrival.type === 'batch' ? arrival.entries : [arrival]
    for (const entry of entries) {
      if (entry.type !== 'request' && entry.type !== 'notification') continue
      if (this.#isExpired) return expired
      const denied = this.#auth.authorize(entry.method, this.#principal)
      if (denied !== undefined) return denied
    }
    return undefined
  }

  /** Handles the first message: the token of the caller. */
  async #authenticate(arrival: Decoded): Promise<void> {
    const isOpening = arrival.type === 'request' && arrival.method === authenticateMethod
    const params = isOpening
      ? (arrival.params as Readonly<Record<string, unknown>> | undefined)
      : undefined
    const { scheme, credentials } = params ?? {}
    const header =
      typeof scheme === 'string' && typeof credentials === 'string'
        ? `${scheme} ${credentials}`
        : undefined
    const outcome = await this.#auth.authenticate({
      method: 'POST',
      path: '',
      query: '',
      values: name => (name === 'authorization' && header !== undefined ? [header] : []),
      address: () => undefined,
    })
    const id = arrival.type === 'request' ? arrival.id : null
    if (outcome.status !== undefined) {
      this.#stopTimer()
      await this.#channel.send({ type: 'error', id, error: errorOf(outcome) })
      await this.close()
      return
    }
    this.#stopTimer()
    this.#isOpen = true
    this.#principal = outcome.principal
    this.#watchExpiry()
    if (id !== null) await this.#channel.send({ type: 'result', id, result: {} })
  }

  #watchExpiry(): void {
    const expiresAt = this.#auth.endsStreams ? this.#principal?.expiresAt : undefined
    if (expiresAt === undefined) return
    this.#after(Math.min(Math.max(0, expiresAt - Date.now()), longestDelayMs), () => {
      this.#isExpired = true
      this.#after(limits.expiredDrainMs.default, () => void this.close())
    })
  }

  #after(delayMs: number, run: () => void): void {
    this.#stopTimer()
    this.#timer = this.#clock.start(run, delayMs)
  }

  #stopTimer(): void {
    if (this.#timer !== undefined) this.#clock.stop(this.#timer)
    this.#timer = undefined
  }
}

const expired: AuthRefusal = {
  status: 401,
  headers: {},
  kind: 'token_expired',
  message: 'Token expired',
}

function errorOf({ message, kind, headers }: AuthRefusal): ErrorObject {
  const scope = /scope="([^"]*)"/.exec(headers['www-authenticate'] ?? '')?.[1]
  const scopes = scope === undefined || scope === '' ? undefined : scope.split(' ')
  return { code: -32000, message, data: { kind, ...(scopes && { scopes }) } }
}
