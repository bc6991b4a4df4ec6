// The fixture on @modelcontextprotocol/sdk, over stdio. It speaks the session revisions only.

import { completable } from '@modelcontextprotocol/sdk/server/completable.js'
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import {
  ErrorCode,
  ListResourcesRequestSchema,
  McpError,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import {
  completions,
  elicitations,
  fixtureState,
  info,
  instructions,
  logLevels,
  png,
  resourcePage,
  resources,
  texts,
  uris,
  wav,
  whoSchema,
  wordSchema,
} from './surface.js'

const state = fixtureState()
const subscribed = new Set()
const server = new McpServer(info, {
  instructions,
  capabilities: {
    tools: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
  },
})

const text = words => ({ type: 'text', text: words })
const says = words => ({ content: [text(words)] })
const tool = (name, inputSchema, run) => server.registerTool(name, { inputSchema }, run)

addPlainTools()
addTalkingTools()
addAskingTools()
addChangingTools()
addResources()
addPrompts()
await server.connect(new StdioServerTransport())

function addPlainTools() {
  tool('echo', { text: z.string() }, args => says(args.text))
  server.registerTool(
    'add',
    {
      title: 'Add',
      description: 'Adds two numbers',
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { sum: z.number() },
      annotations: { readOnlyHint: true },
    },
    ({ a, b }) => ({ ...says(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
  )
  tool('fails', {}, () => ({ ...says(texts.broken), isError: true }))
  tool('throws', {}, () => {
    throw new Error(texts.broken)
  })
  tool('image', {}, () => ({ content: [{ type: 'image', data: png, mimeType: 'image/png' }] }))
  tool('audio', {}, () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }))
  tool('link', {}, () => ({ content: [{ type: 'resource_link', ...resources[0] }] }))
  tool('embedded', {}, () => ({
    content: [{ type: 'resource', resource: { uri: uris.text, text: texts.resource } }],
  }))
}

function addTalkingTools() {
  const progress = ({ _meta, sendNotification }, params) =>
    _meta?.progressToken !== undefined &&
    sendNotification({
      method: 'notifications/progress',
      params: { progressToken: _meta.progressToken, ...params },
    })
  tool('count', { to: z.number() }, async ({ to }, extra) => {
    for (let step = 1; step <= to; step++) {
      await progress(extra, { progress: step, total: to, message: texts.step(step) })
    }
    await state.released()
    return says(texts.counted(to))
  })
  tool('release', {}, () => {
    state.release()
    return says('released')
  })
  tool('wait', {}, async (_args, extra) => {
    await new Promise((_resolve, reject) => {
      extra.signal.addEventListener('abort', () => {
        state.cancelled()
        reject(extra.signal.reason)
      })
      void progress(extra, { progress: 1 })
    })
  })
  tool('cancelled', {}, async () => {
    await state.cancellation()
    return says(texts.cancelled)
  })
  tool('logs', {}, async (_args, extra) => {
    for (const level of logLevels) {
      await server.sendLoggingMessage(
        { level, logger: 'fixture', data: { level } },
        extra.sessionId,
      )
    }
    return says('logged')
  })
}

function addAskingTools() {
  const ask = (message, requestedSchema) => server.server.elicitInput({ message, requestedSchema })
  const word = async message => {
    const { content } = await ask(message, wordSchema)
    return content?.word
  }
  tool('asks', { how: z.string() }, async ({ how }) => {
    const { action, content } = await ask(elicitations.who(how), whoSchema)
    return says(action === 'accept' ? `accept: ${content?.name}, ${content?.age}` : action)
  })
  tool('asks-twice', {}, async () => {
    const first = await word(elicitations.first)
    return says(`${first} ${await word(elicitations.second)}`)
  })
  tool('asks-url', {}, async () => {
    const { action } = await server.server.elicitInput({
      mode: 'url',
      message: elicitations.consent,
      url: uris.website,
      elicitationId: 'consent-1',
    })
    return says(action)
  })
  tool('samples', { prompt: z.string() }, async ({ prompt }) => {
    const { model, content } = await server.server.createMessage({
      messages: [{ role: 'user', content: text(prompt) }],
      maxTokens: 100,
    })
    return says(`${model}: ${content.text}`)
  })
  tool('roots', {}, async () => {
    const { roots } = await server.server.listRoots()
    return says(roots.map(root => root.uri).join(' '))
  })
  server.registerPrompt('asked', { description: 'Asks before it answers' }, async () => ({
    messages: [
      {
        role: 'user',
        content: text(texts.greeting(await word(elicitations.addressee), 'mild')),
      },
    ],
  }))
}

function addChangingTools() {
  let grown
  tool('grow', {}, () => {
    grown ??= tool('grown', {}, () => says(texts.grown))
    return says('grown')
  })
  tool('shrink', {}, () => {
    grown?.remove()
    grown = undefined
    return says('shrunk')
  })
  tool('touch', {}, async () => {
    const count = state.touch()
    if (subscribed.has(uris.touched)) await server.server.sendResourceUpdated({ uri: uris.touched })
    return says(texts.touched(count))
  })
}

function addResources() {
  const contents = new Map([
    [uris.text, () => ({ text: texts.resource })],
    [uris.binary, () => ({ blob: png })],
    [uris.touched, () => ({ text: texts.touched(state.touches()) })],
  ])
  for (const { uri, name, ...about } of resources) {
    server.registerResource(name, uri, about, () => ({
      contents: [{ uri, mimeType: about.mimeType, ...contents.get(uri)() }],
    }))
  }
  server.registerResource(
    'item',
    new ResourceTemplate(uris.template, { list: undefined, complete: { id: completions.id } }),
    { description: 'One item', mimeType: 'text/plain' },
    ({ href: uri }, { id }) => ({ contents: [{ uri, text: texts.item(id) }] }),
  )
  // The package lists everything on one page and has no subscriptions: both are implemented here.
  server.server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => {
    const page = resourcePage(params?.cursor)
    if (page === undefined) throw new McpError(ErrorCode.InvalidParams, 'no such cursor')
    return page
  })
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri)
    return {}
  })
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri)
    return {}
  })
}

function addPrompts() {
  const says = content => ({ messages: [{ role: 'user', content }] })
  server.registerPrompt('plain', { description: 'No arguments' }, () => says(text(texts.plain)))
  server.registerPrompt(
    'greet',
    {
      title: 'Greet',
      description: 'Greets somebody',
      argsSchema: {
        name: completable(z.string(), completions.name),
        tone: completable(z.string().optional(), (value, context) =>
          completions.tone(value ?? '', context?.arguments?.name),
        ),
      },
    },
    ({ name, tone = 'mild' }) => says(text(texts.greeting(name, tone))),
  )
  server.registerPrompt('pictured', { description: 'A picture and a resource' }, () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: png, mimeType: 'image/png' } },
      {
        role: 'assistant',
        content: { type: 'resource', resource: { uri: uris.text, text: texts.resource } },
      },
    ],
  }))
}
