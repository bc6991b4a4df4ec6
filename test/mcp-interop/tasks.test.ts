import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, test } from 'vitest'
import { fixtureServer } from './cells.ts'
import type { Program, Revision, Side } from './driver.ts'
import { openOurs } from './driver-ours.ts'
import { everythingServer } from './everything.ts'
import { answers } from './scenario.ts'
import { Conversation } from './schema-check.ts'

const { command, args } = fixtureServer('ours')
/** Our server with its tasks. */
const ours: Program = { command, args: [...args, 'more'] }

/** Checks every message that one side sends. */
function checking(revision: Revision, side: Side) {
  const conversation = new Conversation(revision, { strict: true })
  const problems: string[] = []
  const onMessage = (from: Side, message: unknown): void => {
    const found = conversation.sent(from, message)
    if (from === side) problems.push(...found)
  }
  return { problems, onMessage }
}

describe('a client of sdk1 and tasks of our server', () => {
  test('a call becomes a task, is followed to its end, and listed', async () => {
    const { problems, onMessage } = checking('2025-11-25', 'server')
    const client = new Client(
      { name: 'tasks', version: '1.0.0' },
      {
        capabilities: {
          elicitation: { form: {} },
          tasks: { list: {}, cancel: {}, requests: { elicitation: { create: {} } } },
        },
      },
    )
    client.setRequestHandler(ElicitRequestSchema, () => ({
      action: 'accept',
      content: { word: 'asked' },
    }))
    const transport = new StdioClientTransport({ ...ours, args: [...ours.args], stderr: 'ignore' })
    const send = transport.send.bind(transport)
    transport.send = message => {
      onMessage('client', message)
      return send(message)
    }
    transport.onmessage = message => onMessage('server', message)
    await client.connect(transport)
    try {
      await client.listTools()
      const { tasks } = client.experimental
      const run = async (name: string): Promise<readonly unknown[]> => {
        const types: unknown[] = []
        const stream = tasks.callToolStream({ name, arguments: {} }, CallToolResultSchema, {
          task: { ttl: 60_000 },
        })
        for await (const message of stream) {
          if (message.type === 'error') throw message.error
          if (message.type === 'taskCreated') {
            types.push('created')
            await client.callTool({ name: 'release' })
          }
          if (message.type === 'result') types.push(message.result.content)
        }
        return types
      }
      expect(await run('later')).toMatchObject(['created', [{ type: 'text', text: 'now' }]])
      expect(await run('asks-later')).toMatchObject(['created', [{ type: 'text', text: 'asked' }]])
      const listed = (await tasks.listTasks()).tasks
      expect(listed.map(({ status }) => status)).toEqual(['completed', 'completed'])
    } finally {
      await client.close()
    }
    expect(problems).toEqual([])
  })
})

test('our client follows a task of the reference server, which elicits in between', async () => {
  const revision = '2025-11-25'
  const { problems, onMessage } = checking(revision, 'client')
  const { client } = await openOurs(
    everythingServer,
    { answers, revision, onMessage },
    { elicit: () => ({ action: 'accept', content: { interpretation: 'technical' } }) },
  )
  await using _ = client
  const task = await client.start('simulate-research-query', { topic: 'Rust', ambiguous: true })
  expect(task.id).toEqual(expect.any(String))
  expect((await task.result()).text).toContain('Rust')
  expect(task.status).toBe('completed')
  expect(problems).toEqual([])
})

test.each(['2025-11-25', '2026-07-28'] as const)(
  'our client follows and cancels tasks of our server in %s',
  async revision => {
    const client = checking(revision, 'client')
    const server = checking(revision, 'server')
    const onMessage = (from: Side, message: unknown): void => {
      client.onMessage(from, message)
      server.onMessage(from, message)
    }
    const opened = await openOurs(ours, { answers, revision, onMessage })
    await using _ = opened.client
    const task = await opened.client.start('later')
    await opened.client.call('release')
    expect((await task.result()).text).toBe('now')
    const asking = await opened.client.start('asks-later')
    expect((await asking.result()).text).toBe('hello')
    const given = await opened.client.start('later')
    await given.cancel()
    await expect(given.result()).rejects.toThrow()
    expect(given.status).toBe('cancelled')
    // Without sessions tasks are an extension, which the schema of the revision does not include.
    const problems = [...client.problems, ...server.problems]
    if (revision === '2025-11-25') expect(problems).toEqual([])
  },
)
