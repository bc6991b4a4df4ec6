// The fixture on @modelcontextprotocol/server, over stdio. It speaks every revision, but only one era
// per process: the first message decides.

import {
  acceptedContent,
  completable,
  inputRequired,
  inputResponse,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
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

const text = words => ({ type: 'text', text: words })
const says = words => ({ content: [text(words)] })

serveStdio(({ era }) => fixture(era))

/** One server for one connection, because the package needs a new one for each. */
function fixture(era) {
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
  const kit = {
    server,
    state: fixtureState(),
    era,
    tool: (name, shape, run) =>
      server.registerTool(name, { inputSchema: z.object(shape) }, (args, ctx) => run(args, ctx)),
  }
  addPlainTools(kit)
  addTalkingTools(kit)
  addAskingTools(kit)
  addChangingTools(kit)
  addResources(kit)
  addPrompts(kit)
  return server
}

function addPlainTools({ server, tool }) {
  tool('echo', { text: z.string() }, args => says(args.text))
  server.registerTool(
    'add',
    {
      title: 'Add',
      description: 'Adds two numbers',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
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

function addTalkingTools({ state, tool }) {
  const progress = ({ mcpReq: { _meta, notify } }, params) =>
    _meta?.progressToken !== undefined &&
    notify({
      method: 'notifications/progress',
      params: { progressToken: _meta.progressToken, ...params },
    })
  tool('count', { to: z.number() }, async ({ to }, ctx) => {
    for (let step = 1; step <= to; step++) {
      await progress(ctx, { progress: step, total: to, message: texts.step(step) })
    }
    await state.released()
    return says(texts.counted(to))
  })
  tool('release', {}, () => {
    state.release()
    return says('released')
  })
  tool('wait', {}, async (_args, ctx) => {
    const { signal } = ctx.mcpReq
    await new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        state.cancelled()
        reject(signal.reason)
      })
      void progress(ctx, { progress: 1 })
    })
  })
  tool('cancelled', {}, async () => {
    await state.cancellation()
    return says(texts.cancelled)
  })
  tool('logs', {}, async (_args, { mcpReq }) => {
    for (const level of logLevels) await mcpReq.log(level, { level }, 'fixture')
    return says('logged')
  })
}

/** The tools return their input requests; in the session revisions the package sends them as requests. */
function addAskingTools({ server, tool }) {
  const needs = (key, request, requestState) =>
    inputRequired({ inputRequests: { [key]: request }, requestState })
  const form = (message, requestedSchema) => inputRequired.elicit({ message, requestedSchema })
  const word = ({ mcpReq }, key) => acceptedContent(mcpReq.inputResponses, key)?.word

  tool('asks', { how: z.string() }, ({ how }, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'who')
    if (answer.kind === 'missing') return needs('who', form(elicitations.who(how), whoSchema))
    const { action, content } = answer
    return says(action === 'accept' ? `accept: ${content?.name}, ${content?.age}` : action)
  })
  tool('asks-twice', {}, (_args, ctx) => {
    const second = word(ctx, 'second')
    if (second !== undefined) return says(`${ctx.mcpReq.requestState()} ${second}`)
    const first = word(ctx, 'first')
    return first === undefined
      ? needs('first', form(elicitations.first, wordSchema))
      : needs('second', form(elicitations.second, wordSchema), first)
  })
  tool('asks-url', {}, (_args, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'consent')
    if (answer.kind !== 'missing') return says(answer.action)
    return needs(
      'consent',
      inputRequired.elicitUrl({ message: elicitations.consent, url: uris.website }),
    )
  })
  tool('samples', { prompt: z.string() }, ({ prompt }, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'sample')
    if (answer.kind === 'missing') {
      return needs(
        'sample',
        inputRequired.createMessage({
          messages: [{ role: 'user', content: text(prompt) }],
          maxTokens: 100,
        }),
      )
    }
    return says(`${answer.result.model}: ${answer.result.content.text}`)
  })
  tool('roots', {}, (_args, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'roots')
    if (answer.kind === 'missing') return needs('roots', inputRequired.listRoots())
    return says(answer.roots.map(root => root.uri).join(' '))
  })
  server.registerPrompt('asked', { description: 'Asks before it answers' }, ctx => {
    const name = word(ctx, 'addressee')
    if (name === undefined) return needs('addressee', form(elicitations.addressee, wordSchema))
    return { messages: [{ role: 'user', content: text(texts.greeting(name, 'mild')) }] }
  })
}

function addChangingTools({ server, state, era, tool }) {
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
  // Subscriptions of the session revisions are kept here; the package keeps those of the other era.
  const subscribed = new Set()
  server.server.setRequestHandler('resources/subscribe', ({ params }) => {
    subscribed.add(params.uri)
    return {}
  })
  server.server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    subscribed.delete(params.uri)
    return {}
  })
  tool('touch', {}, async () => {
    const count = state.touch()
    if (era === 'modern' || subscribed.has(uris.touched)) {
      await server.server.sendResourceUpdated({ uri: uris.touched })
    }
    return says(texts.touched(count))
  })
}

function addResources({ server, state }) {
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
  // The package lists everything on one page.
  server.server.setRequestHandler('resources/list', ({ params }) => {
    const page = resourcePage(params?.cursor)
    if (page === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'no such cursor')
    }
    return page
  })
}

function addPrompts({ server }) {
  const says = content => ({ messages: [{ role: 'user', content }] })
  server.registerPrompt('plain', { description: 'No arguments' }, () => says(text(texts.plain)))
  server.registerPrompt(
    'greet',
    {
      title: 'Greet',
      description: 'Greets somebody',
      argsSchema: z.object({
        name: completable(z.string(), completions.name),
        tone: completable(z.string(), (value, context) =>
          completions.tone(value, context?.arguments?.name),
        ).optional(),
      }),
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
