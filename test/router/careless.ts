import type { Channel } from '../../src/jsonrpc/channel.ts'
import { methodNotFound } from '../../src/jsonrpc/error.ts'
import { Peer } from '../../src/jsonrpc/peer/peer.ts'
import type { Endpoint } from '../../src/mcp/endpoint.ts'
import { profile } from '../../src/mcp/profile.ts'
import { revisionNamed } from '../../src/mcp/revisions/revisions.ts'
import { deferred } from '../../src/util/promises.ts'

const revision = '2025-11-25'

/**
 * A server with sessions that asks when it is told to, and never says for whom: its calls go on until
 * the test ends them, whether they are cancelled or not.
 */
export class Careless implements Endpoint {
  readonly profile = profile()
  readonly revisions = [revisionNamed(revision) ?? unknown()]
  /** One for each connection, in the order in which they were opened. */
  readonly connections: Peer[] = []
  readonly cancelled: unknown[] = []
  readonly #channels = new Map<Peer, Channel>()
  readonly #begun = new Map<string, ReturnType<typeof deferred<Peer>>>()
  readonly #ends = new Map<string, ReturnType<typeof deferred<unknown>>>()
  #asked = 0

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
          // The check: every test calls it with a name.
          const { who } = (params as { arguments: { who: string } }).arguments
          this.#begunBy(who).resolve(peer)
          return this.#endOf(who).promise
        },
        'notifications/initialized': () => {},
        'notifications/cancelled': params => void this.cancelled.push(params),
      },
      { makeId: () => `question ${++this.#asked}`, onError: () => {} },
    )
    this.connections.push(peer)
    this.#channels.set(peer, channel)
    return peer
  }

  /** Settles when the call of somebody has come, with the connection it came over. */
  begun(who: string): Promise<Peer> {
    return this.#begunBy(who).promise
  }

  /** Answers the call of somebody. */
  end(who: string): void {
    this.#endOf(who).resolve({ content: [{ type: 'text', text: `${who} is done` }] })
  }

  /** Asks for a name; over the latest connection, if none is given. Rejects as it is refused. */
  async ask(peer = this.connections.at(-1)): Promise<unknown> {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
    return peer?.call('elicitation/create', { message: 'Who are you?', requestedSchema })
  }

  /** Ends a connection without another word. */
  async cut(peer: Peer): Promise<void> {
    await this.#channels.get(peer)?.close()
  }

  /** Does not want to know any more what it asked last. */
  nevermind(peer = this.connections.at(-1)): void {
    void peer?.notify('notifications/cancelled', { requestId: `question ${this.#asked}` })
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
  throw new Error(`there is no revision ${revision}`)
}
