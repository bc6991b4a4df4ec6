import { type Client, openClient } from '../../src/client/client.ts'
import type { Dial } from '../../src/client/connection/negotiate.ts'
import type { ClientOptions } from '../../src/client/options.ts'
import type { Channel, Sink } from '../../src/jsonrpc/channel.ts'
import { encode } from '../../src/jsonrpc/codec/encode.ts'
import type { Decoded, Message } from '../../src/jsonrpc/message.ts'
import {
  type Features,
  type Revision as Known,
  revisionNamed,
} from '../../src/mcp/revisions/revisions.ts'
import type { ServerOptions } from '../../src/server/options.ts'
import { type Revision, revisions, type Side } from '../mcp-interop/driver.ts'
import { Conversation } from '../mcp-interop/schema-check.ts'
import { routedWires } from '../router/routed-wires.ts'
import { type Served, type Wire, wires } from './mcp-wires.ts'

export { type Revision, revisions, type Served }

/** A transport and a revision. */
export interface Cell {
  readonly wire: Wire
  readonly revision: Revision
  /** The features of the revision. */
  readonly own: Features
  /** The features that both revisions have, where a server of another revision is behind a router. */
  readonly features: Features
  readonly isStateless: boolean
  /** Whether closing the response stream cancels a request, without a message. */
  readonly cancelsByLeaving: boolean
}

/** Every transport in every revision. */
export const cells: readonly Cell[] = [...wires, ...routedWires].flatMap(wire =>
  (wire.revisions ?? revisions).map(in_ => cell(wire, in_)),
)

/** Every cell, named for a table of tests. */
export const named = cells.map(one => [`${one.wire.name} in ${one.revision}`, one] as const)

function cell(wire: Wire, revision: Revision): Cell {
  const { features: own, era } = known(revision)
  const isStateless = era === 'stateless'
  return {
    wire,
    revision,
    own,
    features: wire.behind === undefined ? own : common(own, known(wire.behind).features),
    isStateless,
    cancelsByLeaving: isStateless && wire.isPerRequest === true,
  }
}

function known(name: Revision): Known {
  const found = revisionNamed(name)
  if (found === undefined) throw new Error(`there is not a revision ${name}`)
  return found
}

/** The features that a router can translate between a server and a caller of another revision. */
function common(front: Features, behind: Features): Features {
  return {
    ...front,
    toolAnnotations: front.toolAnnotations && behind.toolAnnotations,
    audio: front.audio && behind.audio,
    resourceLinks: front.resourceLinks && behind.resourceLinks,
    structured: less(['none', 'object', 'any'], front.structured, behind.structured),
    inputErrors: behind.inputErrors,
    elicitation: less(['none', 'form', 'form and url'], front.elicitation, behind.elicitation),
    richForms: front.richForms && behind.richForms,
    samplingTools: front.samplingTools && behind.samplingTools,
    completionContext: front.completionContext && behind.completionContext,
    progressMessages: front.progressMessages && behind.progressMessages,
    tasks: behind.tasks === 'none' ? 'none' : front.tasks,
  }
}

function less<T>(order: readonly T[], one: T, other: T): T {
  return order.indexOf(one) < order.indexOf(other) ? one : other
}

/** A message as it was on the wire, and its sender. */
export interface Frame {
  readonly from: Side
  // biome-ignore lint/suspicious/noExplicitAny: assertions say what they expect
  readonly message: any
}

/** Records the connections of a client, and checks each message against the schema of its revision. */
export class Recorder {
  /** Every message, on all connections. */
  readonly frames: Frame[] = []
  /** Whether the client sends something wrong on purpose. */
  isMisuse = false
  /** The number of connections so far. */
  connections = 0
  readonly #problems = new Set<string>()
  readonly #revision: Revision

  constructor(revision: Revision) {
    this.#revision = revision
  }

  /** The dial function, with its channels recorded. */
  tapped(dial: Dial): Dial {
    return async () => {
      const channel = await dial()
      this.connections++
      const conversation = new Conversation(this.#revision, { strict: true })
      return tap(channel, (from, message) => this.#record(conversation, from, message))
    }
  }

  /** The messages of a method, requests and notifications alike, in order. */
  of(method: string): readonly Frame['message'][] {
    return this.frames.filter(({ message }) => message.method === method).map(one => one.message)
  }

  /** Every message, with batches flattened. */
  get messages(): readonly Frame[] {
    return this.frames.flatMap(({ from, message }) =>
      Array.isArray(message) ? message.map(one => ({ from, message: one })) : [{ from, message }],
    )
  }

  /** The problems found since the last call; resets them. */
  problems(): readonly string[] {
    const found = [...this.#problems]
    this.#problems.clear()
    this.isMisuse = false
    return found
  }

  #record(conversation: Conversation, from: Side, message: Frame['message']): void {
    this.frames.push({ from, message })
    const found = conversation.sent(from, message)
    if (from === 'client' && this.isMisuse) return
    for (const problem of found) this.#problems.add(problem)
  }
}

/** Calls repeatedly until a condition holds, up to a limit. */
export async function until(client: Client, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 2000; attempt++) {
    if (await isSo()) return
    await client.call('test_simple_text')
    // In memory nothing else would ever run.
    await new Promise(resolve => setImmediate(resolve))
  }
  throw new Error('the condition did not come true')
}

/** A connected client of a cell, with the recorder of its messages. */
export interface Connected {
  readonly client: Client
  readonly served: Served
  readonly recorder: Recorder
  close(): Promise<void>
}

/** Starts the server of a cell and connects a client to it, which speaks its revision alone. */
export async function connectCell(
  { wire, revision }: Cell,
  options: ClientOptions = {},
  serverOptions?: ServerOptions,
): Promise<Connected> {
  const served = await wire.serve(serverOptions)
  const recorder = new Recorder(revision)
  try {
    const client = await openClient(recorder.tapped(served.dial), {
      name: 'matrix',
      version: '1.0.0',
      revisions: [revision],
      onError: () => {},
      ...options,
    })
    const close = async (): Promise<void> => {
      await client.close()
      await served.end()
    }
    return { client, served, recorder, close }
  } catch (error) {
    await served.end()
    throw error
  }
}

/** A client channel that reports each message as it is on the wire. */
function tap(channel: Channel, onMessage: (from: Side, message: unknown) => void): Channel {
  const onWire = (message: Message | readonly Message[]): unknown => JSON.parse(encode(message))
  const observed = (sink: Sink): Sink => ({
    receive: (arrival, envelope) => {
      const message = arrived(arrival)
      if (message !== undefined) onMessage('server', onWire(message))
      return sink.receive(arrival, envelope)
    },
    failed: (id, error) => sink.failed?.(id, error),
    closed: cause => sink.closed(cause),
  })
  return {
    halfOpen: channel.halfOpen,
    open: sink => channel.open(observed(sink)),
    send(message, envelope) {
      onMessage('client', onWire(message))
      return channel.send(message, envelope)
    },
    abandon: channel.abandon && (id => channel.abandon?.(id)),
    close: () => channel.close(),
    [Symbol.asyncDispose]: () => channel.close(),
  }
}

function arrived(arrival: Decoded): Message | readonly Message[] | undefined {
  if (arrival.type === 'invalid') throw new Error(`the server sent no message: ${arrival.detail}`)
  if (arrival.type !== 'batch') return arrival
  return arrival.entries.filter(entry => entry.type !== 'invalid')
}
