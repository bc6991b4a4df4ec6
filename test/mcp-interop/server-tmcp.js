// The fixture on tmcp, over stdio. The package has separate transports, which are not installed: the
// message, session and subscription handling here is the minimum that its interface requires.

import { createInterface } from 'node:readline'
import { McpServer } from 'tmcp'
import { JsonSchemaAdapter } from 'tmcp/adapter'
import { z } from 'zod'
import {
  completions,
  elicitations,
  fixtureState,
  info,
  instructions,
  logLevels,
  pageSize,
  png,
  resources,
  texts,
  uris,
  wav,
} from './surface.js'

class ZodAdapter extends JsonSchemaAdapter {
  toJsonSchema(schema) {
    const { $schema: _, additionalProperties: __, ...json } = z.toJSONSchema(schema)
    return json
  }
}

const state = fixtureState()
const server = new McpServer(info, {
  instructions,
  adapter: new ZodAdapter(),
  capabilities: {
    tools: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
  },
  pagination: { resources: { size: pageSize } },
})

const text = words => ({ type: 'text', text: words })
const says = words => ({ content: [text(words)] })
const tool = (name, shape, execute, about = {}) =>
  server.tool(
    { name, description: name, ...(shape && { schema: z.object(shape) }), ...about },
    execute,
  )

addPlainTools()
addTalkingTools()
addAskingTools()
addChangingTools()
addResources()
addPrompts()
serveStdio()

function addPlainTools() {
  tool('echo', { text: z.string() }, args => says(args.text))
  tool(
    'add',
    { a: z.number(), b: z.number() },
    ({ a, b }) => ({ ...says(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
    {
      title: 'Add',
      description: 'Adds two numbers',
      outputSchema: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
  )
  tool('fails', undefined, () => ({ ...says(texts.broken), isError: true }))
  tool('throws', undefined, () => {
    throw new Error(texts.broken)
  })
  const gives = (name, block) => tool(name, undefined, () => ({ content: [block] }))
  gives('image', { type: 'image', data: png, mimeType: 'image/png' })
  gives('audio', { type: 'audio', data: wav, mimeType: 'audio/wav' })
  gives('link', { type: 'resource_link', ...resources[0] })
  gives('embedded', { type: 'resource', resource: { uri: uris.text, text: texts.resource } })
}

function addTalkingTools() {
  tool('count', { to: z.number() }, async ({ to }) => {
    for (let step = 1; step <= to; step++) server.progress(step, to, texts.step(step))
    await state.released()
    return says(texts.counted(to))
  })
  tool('release', undefined, () => {
    state.release()
    return says('released')
  })
  tool('wait', undefined, async () => {
    const { signal } = server.ctx
    await new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        state.cancelled()
        reject(signal.reason)
      })
      server.progress(1)
    })
  })
  tool('cancelled', undefined, async () => {
    await state.cancellation()
    return says(texts.cancelled)
  })
  tool('logs', undefined, () => {
    for (const level of logLevels) server.log(level, { level }, 'fixture')
    return says('logged')
  })
}

/** Tools that elicit declare it beforehand: without sessions they restart with each response. */
function addAskingTools() {
  const replayable = { replayable: true }
  const who = z.object({ name: z.string(), age: z.int().min(0) })
  const word = async message => {
    const { content } = await server.elicitation(message, z.object({ word: z.string() }))
    return content?.word
  }
  tool(
    'asks',
    { how: z.string() },
    async ({ how }) => {
      const { action, content } = await server.elicitation(elicitations.who(how), who)
      return says(action === 'accept' ? `accept: ${content?.name}, ${content?.age}` : action)
    },
    replayable,
  )
  tool(
    'asks-twice',
    undefined,
    async () => {
      const first = await word(elicitations.first)
      return says(`${first} ${await word(elicitations.second)}`)
    },
    replayable,
  )
  tool(
    'asks-url',
    undefined,
    async () => says((await server.elicitation(elicitations.consent, uris.website)).action),
    replayable,
  )
  tool(
    'samples',
    { prompt: z.string() },
    async ({ prompt }) => {
      const { model, content } = await server.message({
        messages: [{ role: 'user', content: text(prompt) }],
        maxTokens: 100,
      })
      return says(`${model}: ${content.text}`)
    },
    replayable,
  )
  tool('roots', undefined, async () => {
    await server.refreshRoots()
    return says(server.roots.map(root => root.uri).join(' '))
  })
  server.prompt(
    { name: 'asked', description: 'Asks before it answers', ...replayable },
    async () => ({
      messages: [
        { role: 'user', content: text(texts.greeting(await word(elicitations.addressee), 'mild')) },
      ],
    }),
  )
}

function addChangingTools() {
  let isGrown = false
  tool('grown', undefined, () => says(texts.grown), { enabled: () => isGrown })
  const becomes = (name, grown, words) =>
    tool(name, undefined, () => {
      isGrown = grown
      server.changed('tools')
      return says(words)
    })
  becomes('grow', true, 'grown')
  becomes('shrink', false, 'shrunk')
  tool('touch', undefined, () => {
    const count = state.touch()
    server.changed('resource', uris.touched)
    return says(texts.touched(count))
  })
}

function addResources() {
  const contents = new Map([
    [uris.text, () => ({ text: texts.resource })],
    [uris.binary, () => ({ blob: png })],
    [uris.touched, () => ({ text: texts.touched(state.touches()) })],
  ])
  for (const about of resources) {
    const { uri, mimeType } = about
    server.resource({ ...about }, () => ({ contents: [{ uri, mimeType, ...contents.get(uri)() }] }))
  }
  const completed = values => ({ completion: { values } })
  server.template(
    {
      name: 'item',
      description: 'One item',
      uri: uris.template,
      mimeType: 'text/plain',
      complete: { id: value => completed(completions.id(value)) },
    },
    (uri, { id }) => ({ contents: [{ uri, text: texts.item(id) }] }),
  )
  const prompt = (name, about, execute) => server.prompt({ name, ...about }, execute)
  prompt(
    'greet',
    {
      title: 'Greet',
      description: 'Greets somebody',
      schema: z.object({ name: z.string(), tone: z.string().optional() }),
      complete: {
        name: value => completed(completions.name(value)),
        tone: (value, context) => completed(completions.tone(value, context?.arguments?.name)),
      },
    },
    ({ name, tone = 'mild' }) => ({
      messages: [{ role: 'user', content: text(texts.greeting(name, tone)) }],
    }),
  )
}

function addPrompts() {
  server.prompt({ name: 'plain', description: 'No arguments' }, () => ({
    messages: [{ role: 'user', content: text(texts.plain) }],
  }))
  server.prompt({ name: 'pictured', description: 'A picture and a resource' }, () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: png, mimeType: 'image/png' } },
      {
        role: 'assistant',
        content: { type: 'resource', resource: { uri: uris.text, text: texts.resource } },
      },
    ],
  }))
}

function serveStdio() {
  const send = message => process.stdout.write(`${JSON.stringify(message)}\n`)
  const sessionInfo = {}
  const subscribed = new Set()
  const running = new Map()
  const streams = new Map()
  const subscriptionManager = {
    async create({ id, filters }, callbacks) {
      if (streams.has(id)) return false
      callbacks.acknowledge()
      streams.set(id, { filters, ...callbacks })
      return true
    },
    async close(id) {
      streams.get(id)?.close()
      streams.delete(id)
    },
  }
  server.on('initialize', ({ capabilities, clientInfo }) =>
    Object.assign(sessionInfo, { clientCapabilities: capabilities, clientInfo }),
  )
  server.on('loglevelchange', ({ level }) => Object.assign(sessionInfo, { logLevel: level }))
  server.on('subscription', ({ uri, action }) =>
    action === 'add' ? subscribed.add(uri) : subscribed.delete(uri),
  )
  server.on('send', ({ request }) => send(request))
  server.on('broadcast', ({ request }) => {
    const { uri } = request.params ?? {}
    const isInSession = sessionInfo.clientInfo !== undefined
    if (isInSession && (uri === undefined || subscribed.has(uri))) send(request)
    for (const { filters, send: tell } of streams.values()) {
      if (isOf(filters, request.method, uri)) tell(request)
    }
  })
  const receive = async message => {
    const { id, method, params } = message
    if (method === 'notifications/cancelled') running.get(params.requestId)?.abort()
    const stop = new AbortController()
    if (method !== undefined && id !== undefined) running.set(id, stop)
    const context = { sessionInfo, subscriptionManager, subscriptionOrigin: 'stdio' }
    const reply = await server.receive(message, { ...context, signal: stop.signal })
    running.delete(id)
    if (method !== undefined && reply && !stop.signal.aborted) send(reply)
  }
  const lines = createInterface({ input: process.stdin })
  lines.on('line', line => void receive(JSON.parse(line)))
  lines.on('close', () => process.exit())
}

function isOf(filters, method, uri) {
  if (uri !== undefined) return filters.resourceSubscriptions?.includes(uri)
  const [, what] = method.split('/')
  return filters[`${what}ListChanged`]
}
