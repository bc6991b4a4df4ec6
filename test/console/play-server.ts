import { Server } from '../../src/server/server.ts'

/** A red dot of one pixel. */
export const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

/** Half a sample of silence. */
export const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='

/** A server with something of everything that the playground shows. */
export function playServer(): Server {
  const server = new Server({ name: 'play', version: '1' })
  const text = { type: 'object', properties: { text: { type: 'string' } } } as const
  server.tool('echo', { description: 'Returns its text.', input: text }, ({ text }) => String(text))
  server.tool('fail', { description: 'Fails.', input: text }, () => {
    throw new Error('it failed')
  })
  server.tool(
    'many',
    {
      description: 'Has arguments of many types.',
      input: {
        type: 'object',
        required: ['path', 'by'],
        properties: {
          path: { type: 'string', description: 'What to read' },
          limit: { type: 'integer', minimum: 1, default: 5 },
          deep: { type: 'boolean' },
          mode: { enum: ['fast', 'exact'] },
          tags: {
            type: 'array',
            items: {
              type: 'object',
              required: ['name'],
              properties: { name: { type: 'string' }, weight: { type: 'number' } },
            },
          },
          by: {
            oneOf: [
              {
                type: 'object',
                required: ['kind', 'address'],
                properties: { kind: { const: 'email' }, address: { type: 'string' } },
              },
              {
                type: 'object',
                required: ['kind', 'number'],
                properties: { kind: { const: 'sms' }, number: { type: 'string' } },
              },
            ],
          },
        },
      },
      output: { type: 'object', properties: { given: { type: 'object' } }, required: ['given'] },
    },
    given => ({ given }),
  )
  server.tool('media', {}, () => ({
    content: [
      { type: 'text', text: 'An image <b>and</b> a sound' },
      { type: 'image', data: png, mimeType: 'image/png' },
      { type: 'audio', data: wav, mimeType: 'audio/wav' },
      {
        type: 'image',
        data: btoa('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
        mimeType: 'image/svg+xml',
      },
      { type: 'resource_link', uri: 'https://example.test/a', name: 'a link' },
      { type: 'resource', resource: { uri: 'note:///1', mimeType: 'text/plain', text: 'a note' } },
    ],
  }))
  server.tool('steps', {}, async (_, ctx) => {
    ctx.progress(1, 4, 'the first of four')
    await new Promise(resolve => ctx.signal.addEventListener('abort', resolve, { once: true }))
    return 'never seen'
  })
  server.tool('ask', {}, async (_, ctx) => {
    const schema = {
      type: 'object',
      properties: { sure: { type: 'boolean', title: 'I am sure' }, why: { type: 'string' } },
      required: ['sure'],
    } as const
    const answer = await ctx.elicit({ message: 'Really remove a.md?', schema, onDecline: 'return' })
    return JSON.stringify(answer)
  })
  server.tool('visit', {}, async (_, ctx) => {
    const url = 'https://login.test/x'
    const answer = await ctx.elicit({ message: 'Please log in.', url, onDecline: 'return' })
    return JSON.stringify(answer)
  })
  server.tool('think', {}, async (_, ctx) => {
    const answer = await ctx.sample({
      messages: [{ role: 'user', content: { type: 'text', text: 'What is 6 × 7?' } }],
      maxTokens: 10,
    })
    return JSON.stringify(answer.content)
  })
  server.prompt(
    'greet',
    {
      description: 'Greets a person.',
      args: {
        type: 'object',
        properties: { name: { type: 'string', description: 'Who is greeted' } },
        required: ['name'],
      },
      complete: { name: typed => ['Ada', 'Alan', 'Grace'].filter(one => one.startsWith(typed)) },
    },
    ({ name }) => `Hello, ${name}!`,
  )
  server.resource('note', 'note:///1', { mimeType: 'text/plain' }, () => 'the text of note 1')
  server.resourceTemplate('page', 'page:///{id}', {}, ({ id }) => `the text of page ${id}`)
  return server
}
