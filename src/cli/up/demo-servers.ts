import { setTimeout as sleep } from 'node:timers/promises'
import { Server } from '../../server/server.ts'

const string = { type: 'string' } as const
const object = <P extends Readonly<Record<string, object>>>(properties: P) => ({
  type: 'object' as const,
  properties,
  required: Object.keys(properties),
})

/** Creates a demo server, by name. */
export const demoServers: ReadonlyMap<string, () => Server> = new Map([
  ['text', textServer],
  ['clock', clockServer],
])

function textServer(): Server {
  const server = new Server({ name: 'text', version: '1.0.0' })
  const input = object({ text: string })
  server.tool('count', { description: 'Counts the words in a text', input }, ({ text }) => {
    const words = String(text).split(/\s+/).filter(Boolean)
    return `${words.length} words, counted by process ${process.pid}`
  })
  server.tool('shout', { description: 'Converts a text to upper case', input }, ({ text }) =>
    String(text).toUpperCase(),
  )
  server.prompt(
    'haiku',
    { description: 'Asks for a haiku', args: object({ about: string }) },
    ({ about }) => `Write a haiku about ${about}.`,
  )
  return server
}

function clockServer(): Server {
  const server = new Server({ name: 'clock', version: '1.0.0' })
  server.tool('now', { description: 'Returns the current time' }, () => new Date().toISOString())
  server.tool(
    'wait',
    {
      description: 'Waits for some seconds and reports progress',
      input: object({ seconds: { type: 'integer', minimum: 1, maximum: 60 } }),
    },
    async ({ seconds }, ctx) => {
      const total = Number(seconds)
      for (let second = 1; second <= total; second++) {
        await sleep(1000, undefined, { signal: ctx.signal })
        ctx.progress(second, total)
      }
      return `Waited for ${total} s`
    },
  )
  server.tool('greet', { description: 'Asks for your name and greets you' }, async (_, ctx) => {
    const schema = object({ name: string })
    const { name } = await ctx.elicit({ message: 'Who are you?', schema })
    return `Hello, ${name}!`
  })
  const uri = 'clock://now'
  server.resource('clock', uri, { mimeType: 'text/plain' }, () => new Date().toISOString())
  return server
}
