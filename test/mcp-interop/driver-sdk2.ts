import {
  Client,
  type ClientOptions,
  type JSONRPCMessage,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  SdkError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  specTypeSchemas,
  type Transport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import {
  type Answers,
  Changes,
  type ConnectDriver,
  type DriverOptions,
  type Interest,
  type Log,
  type McpDriver,
  type Place,
  type Program,
  Refused,
  stateless,
} from './driver.ts'

/** A driver for @modelcontextprotocol/client, in any revision. */
export const connectSdk2: ConnectDriver = (place, options) => {
  const { revision } = options
  return connect(transportTo(place, options), options.answers, {
    supportedProtocolVersions: [revision],
    versionNegotiation: { mode: revision === stateless ? { pin: revision } : 'legacy' },
  })
}

/**
 * A driver for the client in its probing mode. It probes a second process of the program; the requested
 * revision is ignored, and messages are not reported.
 */
export const connectProbingSdk2: ConnectDriver = (place, { answers }) =>
  connect(packageTransport(place), answers, { versionNegotiation: { mode: 'auto' } })

async function connect(
  transport: Transport,
  answers: Answers,
  options: ClientOptions,
): Promise<McpDriver> {
  const client = new Client(
    { name: 'driver-sdk2', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
      ...options,
    },
  )
  const logs: Log[] = []
  const changes = new Changes()
  answerWith(client, answers)
  client.setNotificationHandler('notifications/message', ({ params }) => {
    logs.push(params)
  })
  client.setNotificationHandler('notifications/tools/list_changed', () =>
    changes.tell({ kind: 'tools' }),
  )
  client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
    changes.tell({ kind: 'resource', uri: params.uri }),
  )
  await settled(client.connect(transport))
  return driverOf(client, logs, changes)
}

function packageTransport(place: Place): Transport {
  if ('command' in place) return pipeTo(place)
  const url = new URL(place.url)
  // The cast is safe: the package passes `undefined` where the interface omits a member.
  if (url.pathname === '/sse') return new SSEClientTransport(url) as Transport
  return new StreamableHTTPClientTransport(url) as Transport
}

function pipeTo(program: Program): StdioClientTransport {
  return new StdioClientTransport({ ...program, args: [...program.args], stderr: 'ignore' })
}

/**
 * Wraps the transport of the package and reports each message. Because the wrapper is no instance of the
 * class of the package, the client probes in place: otherwise it would start a second process. Over
 * HTTP messages are not reported.
 */
function transportTo(place: Place, { onMessage }: DriverOptions): Transport {
  if ('url' in place) return packageTransport(place)
  const inner = pipeTo(place)
  const outer: Transport & { readonly pid: number | null; readonly stderr: null } = {
    // The package recognizes a pipe to a process by these two members.
    get pid() {
      return inner.pid
    },
    stderr: null,
    start: () => inner.start(),
    close: () => inner.close(),
    send(message: JSONRPCMessage) {
      onMessage?.('client', message)
      return inner.send(message)
    },
  }
  inner.onmessage = (message: JSONRPCMessage) => {
    onMessage?.('server', message)
    outer.onmessage?.(message)
  }
  inner.onerror = error => outer.onerror?.(error)
  inner.onclose = () => outer.onclose?.()
  return outer
}

function answerWith(client: Client, answers: Answers): void {
  client.setRequestHandler('elicitation/create', ({ params }) => {
    const { action, content } = answers.elicit({ ...params, mode: params.mode ?? 'form' })
    return content === undefined ? { action } : { action, content: { ...content } }
  })
  client.setRequestHandler('sampling/createMessage', ({ params }) => {
    const content = [params.messages.at(-1)?.content].flat()[0]
    const words = content?.type === 'text' ? content.text : ''
    return {
      role: 'assistant',
      model: answers.model,
      content: { type: 'text', text: answers.sample(words) },
    }
  })
  client.setRequestHandler('roots/list', () => ({ roots: [...answers.roots] }))
}

function driverOf(client: Client, logs: Log[], changes: Changes): McpDriver {
  // Without sessions, each request carries the level.
  let meta: { [LOG_LEVEL_META_KEY]: 'debug' | 'info' | 'warning' } | undefined
  const isStateless = client.getProtocolEra() === 'modern'
  return {
    server: {
      ...{ name: undefined, version: undefined, ...client.getServerVersion() },
      instructions: client.getInstructions(),
      capabilities: client.getServerCapabilities(),
      revision: client.getNegotiatedProtocolVersion(),
    },
    logs,
    // The package follows the pages on its own.
    listTools: async () => (await settled(client.listTools())).tools,
    listResources: async () => (await settled(client.listResources())).resources,
    listResourceTemplates: async () =>
      (await settled(client.listResourceTemplates())).resourceTemplates,
    listPrompts: async () => (await settled(client.listPrompts())).prompts,
    async callTool(name, args = {}, { onProgress, signal } = {}) {
      const params = { name, arguments: { ...args }, ...(meta && { _meta: meta }) }
      const call = client.callTool(params, { onprogress: onProgress, signal })
      const result = await settled(call)
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
    async setLogLevel(level) {
      if (isStateless) meta = { [LOG_LEVEL_META_KEY]: level }
      else await settled(client.setLoggingLevel(level))
    },
    watch: async interest => {
      const end = isStateless ? await listen(client, interest) : await subscribe(client, interest)
      return changes.watch(interest, end)
    },
    ping: () => settled(client.ping()),
    // The package throws synchronously, not by a promise, for what it does not send.
    request: (method, params) =>
      settled(
        Promise.resolve().then(() => client.request({ method, params }, specTypeSchemas.Result)),
      ),
    close: () => client.close(),
  }
}

async function listen(
  client: Client,
  { tools, resources }: Interest,
): Promise<() => Promise<void>> {
  const subscription = await settled(
    client.listen({
      ...(tools && { toolsListChanged: true }),
      ...(resources && { resourceSubscriptions: [...resources] }),
    }),
  )
  return () => subscription.close()
}

async function subscribe(
  client: Client,
  { resources = [] }: Interest,
): Promise<() => Promise<void>> {
  for (const uri of resources) await settled(client.subscribeResource({ uri }))
  return async () => {
    for (const uri of resources) await settled(client.unsubscribeResource({ uri }))
  }
}

/** Rejects with `Refused` for errors on the wire and for those of the package. */
async function settled<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (error instanceof ProtocolError) throw new Refused('server', error.code, error)
    if (error instanceof SdkError) throw new Refused('client', error.code, error)
    throw error
  }
}
