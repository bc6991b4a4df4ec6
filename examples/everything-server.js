// A notebook that uses every feature a server can have. examples/client.js starts it and tries them all.
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
  instructions: 'Notes have titles. Read notebook://index to learn which there are.',
})

const notes = new Map([
  ['shopping', 'Apples, bread'],
  ['travel', 'Book the train'],
])
const addressOf = title => `notebook://notes/${encodeURIComponent(title)}`

// ---- Middleware: a function around everything that comes in.

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
    description: 'Adds a note, or writes it anew',
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
    description: 'What the notebook holds, and how often it was asked',
    output: z.object({ notes: z.number(), requests: z.record(z.string(), z.number()) }),
    annotations: { readOnlyHint: true },
    icons: [{ src: 'https://example.com/chart.png', mimeType: 'image/png', sizes: ['48x48'] }],
  },
  () => ({ notes: notes.size, requests: Object.fromEntries(counts) }),
)

server.tool(
  'print',
  {
    description: 'Prints every note, slowly. Tells how far it has come, and stops when told to',
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
    // Words for the model: the tool has failed, and it may try another way.
    if (!notes.delete(title)) throw new Error(`There is no note called ${title}`)
    server.updated('notebook://index')
    return `Tore out ${title}`
  },
)

server.tool('burn', { description: 'Never works' }, () => {
  // An error of the protocol: the call itself was refused, and no model reads it.
  throw errors.accessDenied({ resource: 'matches' })
})

server.tool('cover', { description: 'A picture, a link and a note that travels along' }, () => [
  text('The cover:'),
  image(onePixel, 'image/png'),
  link(addressOf('travel'), { name: 'travel', mimeType: 'text/plain' }),
  embed({ uri: addressOf('shopping'), mimeType: 'text/plain', text: notes.get('shopping') ?? '' }),
])

// ---- Resources: one address, or a family of them.

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
  // undefined says that there is no such resource.
  ({ title }) => notes.get(title),
)

// ---- Prompts. Completion may look at the arguments that are settled already.

server.prompt(
  'translate',
  {
    description: 'Has a note translated',
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

// ---- Definitions can change while the server runs; whoever wants to know is told.

const secret = server.tool('secret', { description: 'Comes and goes' }, () => 'You found it')
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
