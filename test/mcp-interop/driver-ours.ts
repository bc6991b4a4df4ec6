import { openClient } from '../../src/client/client.ts'
import type { ClientOptions } from '../../src/client/options.ts'
import { ChannelError, type Client, connect, RpcError } from '../../src/index.ts'
import type { Channel, Sink } from '../../src/jsonrpc/channel.ts'
import { encode } from '../../src/jsonrpc/codec/encode.ts'
import type { Decoded, Message } from '../../src/jsonrpc/message.ts'
import { childChannel } from '../../src/transport/process/child.ts'
import {
  type Answers,
  Changes,
  type ConnectDriver,
  type DriverOptions,
  type Interest,
  type Log,
  type McpDriver,
  type Named,
  type Place,
  Refused,
  type Side,
  type Watch,
} from './driver.ts'

/** A driver for our client, in any revision. */
export const connectOurs: ConnectDriver = async (place, options) => {
  const { client, logs } = await openOurs(place, options)
  return driverOf(client, logs)
}

/** The client of the driver, for features that other packages have no common API for. */
export async function openOurs(
  place: Place,
  { answers, revision, onMessage }: DriverOptions,
  more: ClientOptions = {},
): Promise<{ readonly client: Client; readonly logs: readonly Log[] }> {
  const logs: Log[] = []
  const asked: ClientOptions = {
    name: 'driver-ours',
    version: '1.0.0',
    revisions: [revision],
    ...answering(answers),
    onLog: log => {
      logs.push(log)
    },
    ...more,
  }
  const opening =
    onMessage === undefined || 'url' in place
      ? connect('url' in place ? place.url : place, asked)
      : openClient(async () => tapped(await childChannel(place), onMessage), asked)
  return { client: await settled(opening), logs }
}

function answering(answers: Answers): ClientOptions {
  const reply = (elicitation: Parameters<Answers['elicit']>[0]) => {
    const { action, content } = answers.elicit(elicitation)
    return content === undefined ? { action } : { action, content: { ...content } }
  }
  return {
    elicit: {
      form: form => reply({ ...form, mode: 'form' }),
      url: page => reply({ ...page, mode: 'url' }),
    },
    sample: ({ messages }) => {
      const content = [messages.at(-1)?.content].flat()[0]
      const words = content?.type === 'text' ? content.text : ''
      return {
        role: 'assistant',
        model: answers.model,
        content: { type: 'text', text: answers.sample(words) },
      }
    },
    roots: answers.roots,
  }
}

/** A channel that reports each message as it is on the wire. */
function tapped(channel: Channel, onMessage: (from: Side, message: unknown) => void): Channel {
  const tell = (from: Side, message: Message | readonly Message[]): void =>
    onMessage(from, JSON.parse(encode(message)))
  const observed = (sink: Sink): Sink => ({
    receive: (arrival, envelope) => {
      for (const message of messagesIn(arrival)) tell('server', message)
      return sink.receive(arrival, envelope)
    },
    closed: cause => sink.closed(cause),
  })
  return {
    halfOpen: channel.halfOpen,
    open: sink => channel.open(observed(sink)),
    send(message, envelope) {
      tell('client', message)
      return channel.send(message, envelope)
    },
    close: () => channel.close(),
    [Symbol.asyncDispose]: () => channel.close(),
  }
}

function messagesIn(arrival: Decoded): readonly Message[] {
  if (arrival.type === 'batch') return arrival.entries.flatMap(messagesIn)
  return arrival.type === 'invalid' ? [] : [arrival]
}

function driverOf(client: Client, logs: readonly Log[]): McpDriver {
  const { name, version, instructions, capabilities, revision } = client.server
  return {
    server: { name, version, instructions, capabilities, revision: revision.name },
    logs,
    listTools: () => collected(client.tools()),
    listResources: () => collected(client.resources()),
    listResourceTemplates: () => collected(client.resourceTemplates()),
    listPrompts: () => collected(client.prompts()),
    async callTool(tool, args, options) {
      const { content, structured, isError } = await settled(client.call(tool, args, options))
      return { content: content.map(block => ({ ...block })), structured, isError }
    },
    readResource: async uri =>
      (await settled(client.read(uri))).contents.map(content => ({ ...content })),
    getPrompt: async (prompt, args) => (await settled(client.prompt(prompt, args))).messages,
    complete: (ref, argument, known) =>
      settled(
        client.complete(
          ref.type === 'ref/prompt' ? { prompt: ref.name } : { resource: ref.uri },
          argument.name,
          argument.value,
          known,
        ),
      ),
    setLogLevel: level => settled(client.setLogLevel(level)),
    watch: interest => watch(client, interest),
    ping: async () => {
      await settled(client.ping())
      return {}
    },
    request: (method, params) => settled(client.request(method, params)),
    close: () => client.close(),
  }
}

async function watch(client: Client, interest: Interest): Promise<Watch> {
  const changes = new Changes()
  const stream = client.changes(interest)
  await settled(stream.ready)
  const reading = (async () => {
    for await (const change of stream) {
      if (change.type === 'tools') changes.tell({ kind: 'tools' })
      if (change.type === 'resource') changes.tell({ kind: 'resource', uri: change.uri })
    }
  })()
  return changes.watch(interest, async () => {
    await stream.return()
    await reading
  })
}

async function collected(list: AsyncIterable<{ readonly name: string }>): Promise<Named[]> {
  const items: Named[] = []
  const collecting = (async () => {
    for await (const item of list) items.push({ ...item })
  })()
  await settled(collecting)
  return items
}

/** Rejects with `Refused` for errors on the wire and for those of our client. */
async function settled<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (error instanceof RpcError) throw new Refused('server', error.code, error)
    if (error instanceof ChannelError) throw new Refused('client', error.code, error)
    throw error
  }
}
