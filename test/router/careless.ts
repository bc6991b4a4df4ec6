import type { Channel } from '../../src/jsonrpc/channel.ts'
import { methodNotFound } from '../../src/jsonrpc/error.ts'
import { Peer } from '../../src/jsonrpc/peer/peer.ts'
import type { Endpoint } from '../../src/mcp/endpoint.ts'
import { profile } from '../../src/mcp/profile.ts'
import { revisionNamed } from '../../src/mcp/revisions/revisions.ts'
import { deferred } from '../../src/util/promises.ts'

const revision = '2025-11-25'

/**
 * A session server that sends a server request on demand and never says for which call. Its calls run
 * until the test ends them, whether they are cancelled or not.
 */
export class Careless implements Endpoint {
  readonly profile = profile()
  readonly revisions = [revisionNamed(revision) ?? unknown()]
  /** One peer per connection, in the order of opening. */
  readonly connections: Peer[] = []
  readonly cancelled: unknown[] = []
  readonly #channels = new Map<Peer, Channel>()
  readonly #begun = new Map<string, ReturnType<typeof deferred<Peer>>>()
  readonly #ends = new Map<string, ReturnType<typeof deferred<unknown>>>()
  #sent = 0

  readonly handle = (): never => {
    throw methodNotFound('it has sessions only')
  }

  attach(channel: Channel): Peer {
    const peer: Peer = new Peer(
      channel,
      {
        initialize: () => ({
          protocolVersion: revision,
          capabilities: { tools: {} },
          serverInfo: { name: 'careless', version: '1' },
        }),
        ping: () => ({}),
        'tools/list': () => ({ tools: [{ name: 'work', inputSchema: { type: 'object' } }] }),
        'tools/call': params => {
          // The cast is safe: every test passes a name.
          const { who } = (params as { arguments: { who: string } }).arguments
          this.#begunBy(who).resolve(peer)
          return this.#endOf(who).promise
        },
        'notifications/initialized': () => {},
        'notifications/cancelled': params => void this.cancelled.push(params),
      },
      { makeId: () => `request ${++this.#sent}`, onError: () => {} },
    )
    this.connections.push(peer)
    this.#channels.set(peer, channel)
    return peer
  }

  /** Settles with the connection once the call of the named caller has arrived. */
  begun(who: string): Promise<Peer> {
    return this.#begunBy(who).promise
  }

  /** Answers the call of the named caller. */
  end(who: string): void {
    this.#endOf(who).resolve({ content: [{ type: 'text', text: `${who} is done` }] })
  }

  /** Elicits a name over the given connection, by default the latest. Rejects when the request is refused. */
  async ask(peer = this.connections.at(-1)): Promise<unknown> {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
    return peer?.call('elicitation/create', { message: 'Who are you?', requestedSchema })
  }

  /** Closes a connection without notice. */
  async cut(peer: Peer): Promise<void> {
    await this.#channels.get(peer)?.close()
  }

  /** Cancels the latest server request. */
  cancelLast(peer = this.connections.at(-1)): void {
    void peer?.notify('notifications/cancelled', { requestId: `request ${this.#sent}` })
  }

  #begunBy(who: string) {
    return made(this.#begun, who, () => deferred<Peer>())
  }

  #endOf(who: string) {
    return made(this.#ends, who, () => deferred<unknown>())
  }
}

function made<T>(all: Map<string, T>, key: string, make: () => T): T {
  const value = all.get(key) ?? make()
  all.set(key, value)
  return value
}

function unknown(): never {
  throw new Error(`there is not a revision ${revision}`)
}
