import type { Channel, Envelope, Principal, Sink } from '../../jsonrpc/channel.ts'
import type { Decoded, ErrorObject, Message } from '../../jsonrpc/message.ts'
import {
  type AccessEnd,
  type Authenticator,
  type AuthRefusal,
  authenticateMethod,
} from '../../mcp/authenticator.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'

/**
 * Guards a channel on which one caller sends all messages: a WebSocket after its handshake, or a socket with
 * a fixed principal. Messages carry the principal. Those that it may not send are answered with an error.
 * When its token expires, no further request is accepted, and the channel closes; when it is withdrawn, the channel
 * closes at once.
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
  /** Whether the token of the caller is being checked. */
  #isChecking = false
  #stop: (() => void) | undefined

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
    if (this.#isOpen) this.#watchAccess()
    else this.#after(limits.socketAuthMs.default, () => void this.close())
    this.#channel.open({
      receive: (arrival, envelope) =>
        this.#isOpen
          ? this.#receive(sink, arrival, envelope)
          : this.#authenticate(sink, arrival, envelope),
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

  /**
   * Handles the first message: the token of the caller, or a message of an anonymous caller. Nothing else may
   * arrive until it is checked, so that a connection has one check at a time.
   */
  async #authenticate(sink: Sink, arrival: Decoded, envelope: Envelope): Promise<void> {
    if (this.#isChecking) return this.close()
    this.#isChecking = true
    const opening =
      arrival.type === 'request' && arrival.method === authenticateMethod ? arrival : undefined
    const params: unknown = opening?.params
    const { scheme, credentials } = isRecord(params) ? params : {}
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
    this.#stopTimer()
    if (outcome.status !== undefined) {
      const id = arrival.type === 'request' ? arrival.id : null
      await this.#channel.send({ type: 'error', id, error: errorOf(outcome) })
      await this.close()
      return
    }
    this.#isOpen = true
    this.#principal = outcome.principal
    this.#watchAccess()
    if (opening === undefined) await this.#receive(sink, arrival, envelope)
    else await this.#channel.send({ type: 'result', id: opening.id, result: {} })
  }

  #watchAccess(): void {
    if (this.#principal === undefined) return
    const end = (why: AccessEnd) => {
      this.#isExpired = true
      // Calls in flight may finish, unless the caller lost its permission.
      if (why === 'withdrawn') void this.close()
      else this.#after(limits.expiredDrainMs.default, () => void this.close())
    }
    this.#stop = this.#auth.onAccessEnd(this.#principal, end, this.#clock)
  }

  #after(delayMs: number, run: () => void): void {
    this.#stopTimer()
    const timer = this.#clock.start(run, delayMs)
    this.#stop = () => this.#clock.stop(timer)
  }

  #stopTimer(): void {
    this.#stop?.()
    this.#stop = undefined
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
