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

/** Handles one method. It also receives notifications; its return value for them is dropped. */
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

/** A received value that tests inspect without types. */
// biome-ignore lint/suspicious/noExplicitAny: assertions state what they expect
export type Loose = any

/**
 * A server that sends exactly the scripted responses, on as many connections as are dialed, and records
 * what it receives.
 */
export class ScriptedServer {
  /** All messages received, in order, from all connections. */
  readonly received: Received[] = []
  /** Responses of the client to server requests. */
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

  /** Sets the handler of a method. */
  on(method: string, answer: Answer): this {
    this.#answers.set(method, answer)
    return this
  }

  /** Makes the next `times` connection attempts fail. */
  refuse(times: number): void {
    this.#refusals = times
  }

  /** Returns the connection opened last. */
  get peer(): Peer {
    return this.connections.at(-1) as Peer
  }

  notify(method: string, params?: object): void {
    void this.peer.notify(method, params)
  }

  /** Closes the connection opened last. */
  async disconnect(): Promise<void> {
    await this.#channels.at(-1)?.close()
    await turns()
  }

  /** Returns the params of all messages with this method, in order. */
  // biome-ignore lint/suspicious/noExplicitAny: assertions state what they expect
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
      // A copy, as on a wire: later changes must not alter the recorded message.
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

/** Returns a server of a session revision, which supports neither `server/discover` nor other revisions. */
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

/** Returns a server of the stateless revision only. */
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

/** The capabilities of a session server with every feature. */
export const everything = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
  tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
}

const { tasks: _, ...core } = everything

/** The capabilities of a stateless server with every feature. */
export const statelessEverything = {
  ...core,
  extensions: { 'io.modelcontextprotocol/tasks': {} },
}

export const sessionRevisions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
export const allRevisions = [...sessionRevisions, '2026-07-28'] as const

/** Returns a server of any revision with the same answers, and `resultType` where the revision has it. */
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

/** Waits for some turns of the event loop. */
export async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** A response that never arrives. */
export const never = (): Promise<never> => new Promise(() => {})
