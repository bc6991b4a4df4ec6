import type { Dial } from '../../src/client/connection/negotiate.ts'
import type { Channel } from '../../src/jsonrpc/channel.ts'
import { methodNotFound } from '../../src/jsonrpc/error.ts'
import type { Exchange } from '../../src/jsonrpc/handler.ts'
import type { Decoded, Id, Message } from '../../src/jsonrpc/message.ts'
import { Peer } from '../../src/jsonrpc/peer/peer.ts'
import { memoryPair } from '../../src/transport/memory.ts'

export interface Members {
  readonly [name: string]: unknown
}

/** Answers one method. Notifications come the same way; what they return is dropped. */
export type Answer = (params: Members, call: ServerCall) => unknown

export interface ServerCall {
  readonly id: Id | undefined
  readonly method: string
  readonly exchange: Exchange
}

export interface Received {
  readonly id?: Id | null
  readonly method: string
  readonly params: Members
}

/** What a test looks at as it likes: what a server was sent. */
// biome-ignore lint/suspicious/noExplicitAny: assertions say what they expect
export type Loose = any

/**
 * A server that says exactly what it was told to say, to as many connections as are dialled, and
 * keeps what it hears.
 */
export class ScriptedServer {
  /** Everything that came, in order, from all connections. */
  readonly received: Received[] = []
  /** Replies of the client, which only questions of this side get. */
  readonly replies: Message[] = []
  readonly connections: Peer[] = []
  readonly #channels: Channel[] = []
  readonly #answers: Map<string, Answer>
  #refusals = 0

  constructor(answers: Readonly<Record<string, Answer>> = {}) {
    this.#answers = new Map(Object.entries(answers))
  }

  readonly dial: Dial = async () => {
    if (this.#refusals > 0) {
      this.#refusals--
      throw new Error('nobody is there')
    }
    const [near, far] = memoryPair()
    this.#channels.push(far)
    this.connections.push(
      new Peer(this.#tapped(far), (message, exchange) => {
        const answer = this.#answers.get(message.method)
        if (answer === undefined) throw methodNotFound(message.method)
        const id = message.type === 'request' && message.id !== null ? message.id : undefined
        return answer((message.params ?? {}) as Members, { id, method: message.method, exchange })
      }),
    )
    return near
  }

  /** Answers a method like this from now on. */
  on(method: string, answer: Answer): this {
    this.#answers.set(method, answer)
    return this
  }

  /** The next dialling attempts find nobody. */
  refuse(times: number): void {
    this.#refusals = times
  }

  /** The connection opened last. */
  get peer(): Peer {
    return this.connections.at(-1) as Peer
  }

  notify(method: string, params?: object): void {
    void this.peer.notify(method, params)
  }

  /** Breaks the connection opened last; without a cause it ends in good order. */
  async hangUp(): Promise<void> {
    await this.#channels.at(-1)?.close()
    await turns()
  }

  /** The params of all messages with this method, in order. */
  // biome-ignore lint/suspicious/noExplicitAny: assertions say what they expect
  sent(method: string): any[] {
    return this.received.filter(message => message.method === method).map(({ params }) => params)
  }

  methods(): string[] {
    return this.received.map(({ method }) => method)
  }

  #tapped(channel: Channel): Channel {
    return {
      open: sink =>
        channel.open({
          receive: (arrival, envelope) => {
            this.#keep(arrival)
            return sink.receive(arrival, envelope)
          },
          closed: cause => sink.closed(cause),
        }),
      send: (message, envelope) => channel.send(message, envelope),
      close: () => channel.close(),
      [Symbol.asyncDispose]: () => channel.close(),
    }
  }

  #keep(arrival: Decoded): void {
    if (arrival.type === 'batch') {
      for (const entry of arrival.entries) this.#keep(entry)
    } else if (arrival.type === 'request' || arrival.type === 'notification') {
      const id = arrival.type === 'request' ? arrival.id : undefined
      // A copy, as on a wire: what is done to it later must not change what was said.
      const params = structuredClone(arrival.params ?? {}) as Members
      this.received.push({ id, method: arrival.method, params })
    } else if (arrival.type !== 'invalid') {
      this.replies.push(arrival)
    }
  }
}

export interface Offer {
  readonly capabilities?: object
  readonly instructions?: string
  readonly info?: object
}

const info = { name: 'scripted', version: '1.2.3' }

/** A server of a session revision, which knows neither `server/discover` nor other revisions. */
export function sessionServer(
  revision: string,
  answers: Readonly<Record<string, Answer>> = {},
  offer: Offer = {},
): ScriptedServer {
  return new ScriptedServer({
    initialize: () => ({
      protocolVersion: revision,
      capabilities: offer.capabilities ?? everything,
      serverInfo: offer.info ?? info,
      instructions: offer.instructions,
    }),
    'notifications/initialized': () => {},
    'notifications/cancelled': () => {},
    ping: () => ({}),
    ...answers,
  })
}

/** A server of the stateless revision alone. */
export function statelessServer(
  answers: Readonly<Record<string, Answer>> = {},
  offer: Offer = {},
): ScriptedServer {
  return new ScriptedServer({
    'server/discover': () => ({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: offer.capabilities ?? statelessEverything,
      instructions: offer.instructions,
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': offer.info ?? info },
    }),
    'notifications/cancelled': () => {},
    ...answers,
  })
}

/** What a session server declares that has it all. */
export const everything = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
}

const { tasks: _, ...core } = everything

/** What a stateless server declares that has it all. */
export const statelessEverything = {
  ...core,
  extensions: { 'io.modelcontextprotocol/tasks': {} },
}

export const sessionRevisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
export const allRevisions = [...sessionRevisions, '2026-07-28'] as const

/** A server of any revision: the same answers, with `resultType` where it belongs. */
export function serverOf(
  revision: string,
  answers: Readonly<Record<string, Answer>> = {},
  offer: Offer = {},
): ScriptedServer {
  if (revision !== '2026-07-28') return sessionServer(revision, answers, offer)
  const complete = Object.entries(answers).map(([method, answer]): [string, Answer] => [
    method,
    async (params, call) => {
      const result = await answer(params, call)
      return typeof result === 'object' && result !== null && call.id !== undefined
        ? { resultType: 'complete', ...result }
        : result
    },
  ])
  return statelessServer(Object.fromEntries(complete), offer)
}

/** Lets everything happen that needs no time. */
export async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** An answer that never comes. */
export const never = (): Promise<never> => new Promise(() => {})
