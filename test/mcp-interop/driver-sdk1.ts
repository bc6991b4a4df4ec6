import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ErrorCode,
  type JSONRPCMessage,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  McpError,
  ResourceUpdatedNotificationSchema,
  ResultSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import {
  type Answers,
  Changes,
  type ConnectDriver,
  type DriverOptions,
  type Log,
  type McpDriver,
  type Named,
  type Place,
  Refused,
  type Revision,
} from './driver.ts'

/** A driver for @modelcontextprotocol/sdk, in any of the session revisions. */
export const connectSdk1: ConnectDriver = async (place, options) => {
  const client = new Client(
    { name: 'driver-sdk1', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    },
  )
  const logs: Log[] = []
  const changes = new Changes()
  let revision: string | undefined
  answerWith(client, options.answers)
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    logs.push(params)
  })
  client.setNotificationHandler(ToolListChangedNotificationSchema, () =>
    changes.tell({ kind: 'tools' }),
  )
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) =>
    changes.tell({ kind: 'resource', uri: params.uri }),
  )
  const transport = transportTo(place, options)
  const tell = transport.setProtocolVersion?.bind(transport)
  transport.setProtocolVersion = negotiated => {
    revision = negotiated
    tell?.(negotiated)
  }
  await settled(client.connect(transport))
  return driverOf(client, { logs, changes, revision })
}

/** A transport that reports each message and requests the revision, which the package cannot choose. */
function transportTo(place: Place, { revision, onMessage }: DriverOptions): Transport {
  const transport = packageTransport(place)
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    const wanted = withRevision(message, revision)
    onMessage?.('client', wanted)
    return send(wanted, options)
  }
  transport.onmessage = message => onMessage?.('server', message)
  return transport
}

function packageTransport(place: Place): Transport {
  if ('command' in place) {
    return new StdioClientTransport({ ...place, args: [...place.args], stderr: 'ignore' })
  }
  const url = new URL(place.url)
  // The cast is safe: the package passes `undefined` where the interface omits a member.
  if (url.pathname === '/sse') return new SSEClientTransport(url) as Transport
  return new StreamableHTTPClientTransport(url) as Transport
}

function withRevision(message: JSONRPCMessage, revision: Revision): JSONRPCMessage {
  if (!('method' in message) || message.method !== 'initialize') return message
  return { ...message, params: { ...message.params, protocolVersion: revision } }
}

function answerWith(client: Client, answers: Answers): void {
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    const { action, content } = answers.elicit({ ...params, mode: params.mode ?? 'form' })
    return content === undefined ? { action } : { action, content: { ...content } }
  })
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
    const content = [params.messages.at(-1)?.content].flat()[0]
    const words = content?.type === 'text' ? content.text : ''
    return {
      role: 'assistant',
      model: answers.model,
      content: { type: 'text', text: answers.sample(words) },
    }
  })
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [...answers.roots] }))
}

interface Received {
  readonly logs: Log[]
  readonly changes: Changes
  readonly revision: string | undefined
}

function driverOf(client: Client, { logs, changes, revision }: Received): McpDriver {
  return {
    server: {
      ...{ name: undefined, version: undefined, ...client.getServerVersion() },
      instructions: client.getInstructions(),
      capabilities: client.getServerCapabilities(),
      revision,
    },
    logs,
    listTools: () => pages(async params => list(await client.listTools(params), 'tools')),
    listResources: () =>
      pages(async params => list(await client.listResources(params), 'resources')),
    listResourceTemplates: () =>
      pages(async params => list(await client.listResourceTemplates(params), 'resourceTemplates')),
    listPrompts: () => pages(async params => list(await client.listPrompts(params), 'prompts')),
    async callTool(name, args = {}, { onProgress, signal } = {}) {
      const result = await settled(
        client.request(
          { method: 'tools/call', params: { name, arguments: { ...args } } },
          CallToolResultSchema,
          { onprogress: onProgress, signal },
        ),
      )
      return {
        content: result.content,
        structured: result.structuredContent,
        isError: result.isError === true,
      }
    },
    readResource: async uri => (await settled(client.readResource({ uri }))).contents,
    getPrompt: async (name, args) =>
      (await settled(client.getPrompt({ name, arguments: args }))).messages,
    async complete(ref, argument, known) {
      const context = known === undefined ? undefined : { arguments: known }
      return (await settled(client.complete({ ref, argument, context }))).completion
    },
    setLogLevel: async level => void (await settled(client.setLoggingLevel(level))),
    async watch({ tools, resources = [] }) {
      for (const uri of resources) await settled(client.subscribeResource({ uri }))
      return changes.watch({ tools, resources }, async () => {
        for (const uri of resources) await settled(client.unsubscribeResource({ uri }))
      })
    },
    ping: () => settled(client.ping()),
    request: (method, params) => settled(client.request({ method, params }, ResultSchema)),
    close: () => client.close(),
  }
}

type Page = { readonly items: readonly Named[]; readonly next: string | undefined }

/** One page of a list result, by the name of its list. */
function list<K extends string>(
  result: { readonly nextCursor?: string } & Readonly<Record<K, readonly Named[]>>,
  key: K,
): Page {
  return { items: result[key], next: result.nextCursor }
}

async function pages(
  fetchPage: (params: { cursor?: string } | undefined) => Promise<Page>,
): Promise<readonly Named[]> {
  const items: Named[] = []
  let cursor: string | undefined
  do {
    const page = await settled(fetchPage(cursor === undefined ? undefined : { cursor }))
    items.push(...page.items)
    cursor = page.next
  } while (cursor !== undefined)
  return items
}

/** Rejects with `Refused` for errors on the wire. Two codes belong to the package, for unsent requests. */
async function settled<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof McpError)) throw error
    const isLocal =
      error.code === ErrorCode.ConnectionClosed || error.code === ErrorCode.RequestTimeout
    throw new Refused(isLocal ? 'client' : 'server', error.code, error)
  }
}
