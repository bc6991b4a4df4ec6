// The server of examples/official-server.js, migrated to Trunkline. It serves the same clients, and
// those of other protocol versions and transports too.

import { Server, serve } from 'trunkline'
import * as z from 'zod'

const users = new Map([['1', { name: 'Ada' }]])

const server = new Server({
  name: 'users',
  version: '1.0.0',
  instructions: 'Users have numbers.',
})

server.tool(
  'rename',
  {
    title: 'Rename',
    description: 'Gives a user another name',
    input: z.object({ id: z.string(), name: z.string().min(1) }),
    output: z.object({ before: z.string(), after: z.string() }),
    annotations: { idempotentHint: true },
  },
  ({ id, name }) => {
    const user = users.get(id)
    if (user === undefined) throw new Error(`There is no user ${id}`)
    const before = user.name
    user.name = name
    return { before, after: name }
  },
)

server.tool(
  'count',
  { description: 'Counts to three', input: z.object({ pauseMs: z.number().default(1) }) },
  async ({ pauseMs }, ctx) => {
    for (let step = 1; step <= 3; step++) {
      await new Promise(resolve => setTimeout(resolve, pauseMs))
      ctx.progress(step, 3)
    }
    return 'three'
  },
)

server.tool('greet', { description: 'Asks for a name' }, async (_, ctx) => {
  const { action, content } = await ctx.elicit({
    message: 'Who are you?',
    schema: z.object({ name: z.string() }),
    onDecline: 'return',
  })
  return action === 'accept' ? `Hello, ${content.name}` : 'Hello, stranger'
})

server.resource(
  'all',
  'users://all',
  { description: 'Every user', mimeType: 'application/json' },
  () => [...users.values()],
)

server.resourceTemplate(
  'user',
  'users://one/{id}',
  {
    description: 'One user',
    mimeType: 'application/json',
    complete: { id: typed => [...users.keys()].filter(id => id.startsWith(typed)) },
  },
  ({ id }) => users.get(id),
)

server.prompt(
  'welcome',
  { description: 'Welcomes a user', args: z.object({ name: z.string() }) },
  ({ name }) => `Welcome ${name}.`,
)

await serve(server)
