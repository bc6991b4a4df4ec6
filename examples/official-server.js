// A server written with the official SDK, version 1. examples/migrated-server.js is the same server
// migrated to Trunkline, and examples/migrated.js compares the two.

import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import * as z from 'zod'

const users = new Map([['1', { name: 'Ada' }]])

const server = new McpServer(
  { name: 'users', version: '1.0.0' },
  { instructions: 'Users have numbers.' },
)

server.registerTool(
  'rename',
  {
    title: 'Rename',
    description: 'Gives a user another name',
    inputSchema: { id: z.string(), name: z.string().min(1) },
    outputSchema: { before: z.string(), after: z.string() },
    annotations: { idempotentHint: true },
  },
  async ({ id, name }) => {
    const user = users.get(id)
    if (user === undefined) throw new Error(`There is no user ${id}`)
    const structuredContent = { before: user.name, after: name }
    user.name = name
    return {
      content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
      structuredContent,
    }
  },
)

server.registerTool(
  'count',
  { description: 'Counts to three', inputSchema: { pauseMs: z.number().default(1) } },
  async ({ pauseMs }, extra) => {
    for (let step = 1; step <= 3; step++) {
      await new Promise(resolve => setTimeout(resolve, pauseMs))
      const progressToken = extra._meta?.progressToken
      if (progressToken === undefined) continue
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress: step, total: 3 },
      })
    }
    return { content: [{ type: 'text', text: 'three' }] }
  },
)

server.registerTool('greet', { description: 'Asks for a name' }, async () => {
  const { action, content } = await server.server.elicitInput({
    message: 'Who are you?',
    requestedSchema: {
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
    },
  })
  const text = action === 'accept' ? `Hello, ${content.name}` : 'Hello, stranger'
  return { content: [{ type: 'text', text }] }
})

server.registerResource(
  'all',
  'users://all',
  { description: 'Every user', mimeType: 'application/json' },
  async uri => ({
    contents: [
      {
        uri: uri.href,
        mimeType: 'application/json',
        text: JSON.stringify([...users.values()]),
      },
    ],
  }),
)

server.registerResource(
  'user',
  new ResourceTemplate('users://one/{id}', {
    list: undefined,
    complete: { id: typed => [...users.keys()].filter(id => id.startsWith(typed)) },
  }),
  { description: 'One user', mimeType: 'application/json' },
  async (uri, { id }) => ({
    contents: [
      { uri: uri.href, mimeType: 'application/json', text: JSON.stringify(users.get(id)) },
    ],
  }),
)

server.registerPrompt(
  'welcome',
  { description: 'Welcomes a user', argsSchema: { name: z.string() } },
  ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Welcome ${name}.` } }],
  }),
)

await server.connect(new StdioServerTransport())
