// A notebook that uses every feature of a server. examples/client.js starts it and tries them all.
//
//   node examples/everything-server.js                          on standard input and output
//   node examples/everything-server.js --tcp 4000 --ws 4001     on two ports of this machine

import { setTimeout as sleep } from 'node:timers/promises'
import { embed, errors, image, link, Server, serve, text } from 'trunkline'
import * as z from 'zod'

const server = new Server({
  name: 'notebook',
  version: '1.0.0',
  title: 'Notebook',
  description: 'Notes, and every feature of the protocol',
  websiteUrl: 'https://example.com/notebook',
  icons: [{ src: 'https://example.com/notebook.svg', mimeType: 'image/svg+xml', sizes: ['any'] }],
  instructions: 'Notes have titles. Read notebook://index to list them.',
})

const notes = new Map([
  ['shopping', 'Apples, bread'],
  ['travel', 'Book the train'],
])
const addressOf = title => `notebook://notes/${encodeURIComponent(title)}`

// ---- Middleware: a function that wraps every incoming message.

const counts = new Map()

server.use(next => (message, exchange) => {
  counts.set(message.method, (counts.get(message.method) ?? 0) + 1)
  return next(message, exchange)
})

// ---- Tools. A string becomes text; with an output schema, an object becomes structured content.

server.tool(
  'write',
  {
    title: 'Write a note',
    description: 'Adds or replaces a note',
    input: z.object({ title: z.string().min(1), words: z.string() }),
    annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
  },
  ({ title, words }) => {
    notes.set(title, words)
    server.updated(addressOf(title))
    server.updated('notebook://index')
    return `Wrote ${title}`
  },
)

server.tool(
  'statistics',
  {
    description: 'The number of notes, and of requests by method',
    output: z.object({ notes: z.number(), requests: z.record(z.string(), z.number()) }),
    annotations: { readOnlyHint: true },
    icons: [{ src: 'https://example.com/chart.png', mimeType: 'image/png', sizes: ['48x48'] }],
  },
  () => ({ notes: notes.size, requests: Object.fromEntries(counts) }),
)

server.tool(
  'print',
  {
    description: 'Prints every note, slowly. Reports progress and can be cancelled',
    input: z.object({ pauseMs: z.number().min(0).max(60_000).default(1) }),
  },
  async ({ pauseMs }, ctx) => {
    let printed = 0
    for (const title of notes.keys()) {
      await sleep(pauseMs, undefined, { signal: ctx.signal })
      ctx.progress(++printed, notes.size, `printed ${title}`)
      ctx.log('info', { printed: title }, 'printer')
    }
    return `${printed} pages`
  },
)

server.tool(
  'tear out',
  { description: 'Removes a note', input: z.object({ title: z.string() }) },
  ({ title }) => {
    // A message for the model: the tool failed, and the model can try something else.
    if (!notes.delete(title)) throw new Error(`There is no note called ${title}`)
    server.updated('notebook://index')
    return `Tore out ${title}`
  },
)

server.tool('burn', { description: 'Never works' }, () => {
  // A protocol error: the call itself is rejected, and the model does not see it.
  throw errors.accessDenied({ resource: 'matches' })
})

server.tool('cover', { description: 'An image, a link and an embedded note' }, () => [
  text('The cover:'),
  image(onePixel, 'image/png'),
  link(addressOf('travel'), { name: 'travel', mimeType: 'text/plain' }),
  embed({ uri: addressOf('shopping'), mimeType: 'text/plain', text: notes.get('shopping') ?? '' }),
])

// ---- Resources: one URI, or a template for many.

server.resource(
  'index',
  'notebook://index',
  { title: 'Index', description: 'The titles of all notes', mimeType: 'application/json' },
  () => [...notes.keys()],
)

server.resource('logo', 'notebook://logo', { mimeType: 'image/png', size: 70 }, () =>
  Buffer.from(onePixel, 'base64'),
)

server.resourceTemplate(
  'note',
  'notebook://notes/{title}',
  {
    description: 'One note',
    mimeType: 'text/plain',
    complete: { title: typed => [...notes.keys()].filter(title => title.startsWith(typed)) },
  },
  // undefined means that the resource does not exist.
  ({ title }) => notes.get(title),
)

// ---- Prompts. Completion can depend on the arguments that are already set.

server.prompt(
  'translate',
  {
    description: 'Translates a note',
    args: z.object({
      title: z.string().describe('Which note'),
      language: z.string().describe('Into which language'),
    }),
    complete: {
      title: typed => [...notes.keys()].filter(title => title.startsWith(typed)),
      language: (typed, { arguments: { title } }) =>
        (title === 'travel' ? ['French', 'Italian'] : ['French', 'Frisian', 'German']).filter(
          language => language.startsWith(typed),
        ),
    },
  },
  ({ title, language }) => [
    text(`Translate this note into ${language}.`),
    embed({ uri: addressOf(title), mimeType: 'text/plain', text: notes.get(title) ?? '' }),
    { role: 'assistant', content: text('Here it is:') },
  ],
)

// ---- Definitions can change while the server runs; subscribed clients are notified.

const secret = server.tool(
  'secret',
  { description: 'Can be enabled and disabled' },
  () => 'You found it',
)
secret.disable()

server.tool(
  'manage',
  {
    description: 'Changes the tool called secret',
    input: z.object({ what: z.enum(['enable', 'disable', 'describe', 'remove']) }),
  },
  ({ what }) => {
    if (what === 'describe') secret.update({ description: 'Can be found now' })
    else secret[what]()
    return `${what}: done`
  },
)

const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

await serve(server)
