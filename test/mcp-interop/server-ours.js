// The fixture on this package, over stdio. It speaks every revision, and both eras on one connection;
// or only the one that the environment variable REVISION names.

import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { audio, embed, image, link, Server, serve, text } from '../../dist/index.js'
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
  whoSchema,
  wordSchema,
} from './surface.js'

const state = fixtureState()
const { REVISION } = process.env
const revisions = REVISION === undefined ? undefined : [REVISION]
const server = new Server({ ...info, instructions }, { pageSize, revisions })

addPlainTools()
addTalkingTools()
addAskingTools()
addChangingTools()
addResources()
addPrompts()
if (process.argv.includes('more')) addMore()
await serve(server)

function addPlainTools() {
  server.tool('echo', { input: z.object({ text: z.string() }) }, ({ text: words }) => words)
  server.tool(
    'add',
    {
      title: 'Add',
      description: 'Adds two numbers',
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ sum: z.number() }),
      annotations: { readOnlyHint: true },
    },
    ({ a, b }) => ({ sum: a + b }),
  )
  server.tool('fails', {}, () => ({ content: [text(texts.broken)], isError: true }))
  server.tool('throws', {}, () => {
    throw new Error(texts.broken)
  })
  server.tool('image', {}, () => image(png, 'image/png'))
  server.tool('audio', {}, () => audio(wav, 'audio/wav'))
  const [{ uri, ...about }] = resources
  server.tool('link', {}, () => link(uri, about))
  server.tool('embedded', {}, () => embed({ uri: uris.text, text: texts.resource }))
}

function addTalkingTools() {
  server.tool('count', { input: z.object({ to: z.number() }) }, async ({ to }, ctx) => {
    for (let step = 1; step <= to; step++) ctx.progress(step, to, texts.step(step))
    await state.released()
    return texts.counted(to)
  })
  server.tool('release', {}, () => {
    state.release()
    return 'released'
  })
  server.tool('wait', {}, async (_input, ctx) => {
    await new Promise((_resolve, reject) => {
      ctx.signal.addEventListener('abort', () => {
        state.cancelled()
        reject(ctx.signal.reason)
      })
      ctx.progress(1)
    })
  })
  server.tool('cancelled', {}, async () => {
    await state.cancellation()
    return texts.cancelled
  })
  server.tool('logs', {}, (_input, ctx) => {
    for (const level of logLevels) ctx.log(level, { level }, 'fixture')
    return 'logged'
  })
}

function addAskingTools() {
  const word = async (ctx, message) => (await ctx.elicit({ message, schema: wordSchema })).word
  server.tool('asks', { input: z.object({ how: z.string() }) }, async ({ how }, ctx) => {
    const { action, content } = await ctx.elicit({
      message: elicitations.who(how),
      schema: whoSchema,
      onDecline: 'return',
    })
    return action === 'accept' ? `accept: ${content.name}, ${content.age}` : action
  })
  server.tool('asks-twice', {}, async (_input, ctx) => {
    const first = await word(ctx, elicitations.first)
    return `${first} ${await word(ctx, elicitations.second)}`
  })
  server.tool('asks-url', {}, async (_input, ctx) => {
    const { action } = await ctx.elicit({
      message: elicitations.consent,
      url: uris.website,
      onDecline: 'return',
    })
    return action
  })
  server.tool('samples', { input: z.object({ prompt: z.string() }) }, async ({ prompt }, ctx) => {
    const { model, content } = await ctx.sample({
      messages: [{ role: 'user', content: text(prompt) }],
      maxTokens: 100,
    })
    return `${model}: ${content.text}`
  })
  server.tool('roots', {}, async (_input, ctx) =>
    (await ctx.roots()).map(root => root.uri).join(' '),
  )
  server.prompt('asked', { description: 'Asks before it answers' }, async (_args, ctx) =>
    texts.greeting(await word(ctx, elicitations.addressee), 'mild'),
  )
}

function addChangingTools() {
  let grown
  server.tool('grow', {}, () => {
    grown ??= server.tool('grown', {}, () => texts.grown)
    return 'grown'
  })
  server.tool('shrink', {}, () => {
    grown?.remove()
    grown = undefined
    return 'shrunk'
  })
  server.tool('touch', {}, () => {
    const count = state.touch()
    server.updated(uris.touched)
    return texts.touched(count)
  })
}

function addResources() {
  const contents = new Map([
    [uris.text, () => texts.resource],
    [uris.binary, () => Buffer.from(png, 'base64')],
    [uris.touched, () => texts.touched(state.touches())],
  ])
  for (const { uri, name, ...about } of resources) {
    server.resource(name, uri, about, contents.get(uri))
  }
  server.resourceTemplate(
    'item',
    uris.template,
    { description: 'One item', mimeType: 'text/plain', complete: { id: completions.id } },
    ({ id }) => texts.item(id),
  )
}

function addPrompts() {
  server.prompt('plain', { description: 'No arguments' }, () => texts.plain)
  server.prompt(
    'greet',
    {
      title: 'Greet',
      description: 'Greets somebody',
      args: z.object({ name: z.string(), tone: z.string().optional() }),
      complete: {
        name: completions.name,
        tone: (value, { arguments: known }) => completions.tone(value, known.name),
      },
    },
    ({ name, tone = 'mild' }) => texts.greeting(name, tone),
  )
  server.prompt('pictured', { description: 'A picture and a resource' }, () => [
    { role: 'user', content: image(png, 'image/png') },
    { role: 'assistant', content: embed({ uri: uris.text, text: texts.resource }) },
  ])
}

/** Features that the other fixtures do not have. */
function addMore() {
  // A timer that would keep the process alive forever.
  setInterval(() => {}, 60_000)
  // What a careless program prints: it must not reach the reader of the messages.
  server.tool('prints', {}, () => {
    console.log('stray words')
    console.info({ stray: true })
    return 'printed'
  })
  server.tool('slow', {}, async (_input, ctx) => {
    ctx.progress(1)
    await pause(100, undefined, { signal: ctx.signal })
    return 'at last'
  })
  server.tool('later', { task: 'optional' }, async () => {
    await state.released()
    return 'now'
  })
  server.tool('asks-later', { task: 'required' }, async (_input, ctx) => {
    const { word } = await ctx.elicit({ message: elicitations.first, schema: wordSchema })
    return word
  })
}
