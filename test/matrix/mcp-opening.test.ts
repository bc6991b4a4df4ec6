import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { ConnectOptions } from '../../src/connect.ts'
import { connect, listen, Server } from '../../src/index.ts'
import { proves } from '../requirements.ts'

const odd = fileURLToPath(new URL('mcp-odd-child.js', import.meta.url))
const addresses = ['tcp://127.0.0.1:0', 'ws://127.0.0.1:0/mcp', 'http://127.0.0.1:0/mcp']
const quiet: ConnectOptions = { onError: () => {}, onJunk: () => {} }

/** Records the methods that a program receives, and how often it was started. */
function observed() {
  const received: string[] = []
  const pids: number[] = []
  const options: ConnectOptions = {
    ...quiet,
    onStderr: text => received.push(...text.trim().split('\n')),
    onChild: ({ pid }) => pids.push(pid),
  }
  return { received, pids, options }
}

/** A program with a unique command line, so that the version cache has no entry for it. */
function unknownProgram(what: string): {
  readonly command: string
  readonly args: readonly string[]
} {
  return { command: process.execPath, args: [odd, what, randomUUID()] }
}

function plain(): Server {
  const server = new Server({ name: 'plain', version: '1.0.0' }, { onError: () => {} })
  server.tool('add', {}, () => 'added')
  return server
}

describe('a program that supports only sessions', () => {
  test.each([
    ['dies', 2],
    ['stays-silent', 1],
    ['prints', 1],
    ['refuses', 1],
  ])('and %s on server/discover is connected to nevertheless', async (what, starts) => {
    proves('V7', 'V7c', 'V7e', 'V12', 'T2', 'T9')
    const program = unknownProgram(what)
    const first = observed()
    const discoverTimeoutMs = what === 'refuses' || what === 'dies' ? undefined : 30
    const client = await connect(program, { ...first.options, discoverTimeoutMs })
    expect(client.server.revision.name).toBe('2025-06-18')
    expect((await client.call('who')).text).toBe(`${first.pids.at(-1)}`)
    await client.close()
    expect(first.pids).toHaveLength(starts)
    const session = ['initialize', 'notifications/initialized', 'tools/call']
    expect(first.received).toEqual(['server/discover', ...session])

    const second = observed()
    const again = await connect(program, second.options)
    await again.call('who')
    await again.close()
    expect(second.pids).toHaveLength(1)
    expect(second.received).toEqual(session)
  })

  test('is probed again when another program has replaced it', async () => {
    proves('V12b')
    const old = new Server(
      { name: 'old', version: '1.0.0' },
      { revisions: ['2025-06-18'], onError: () => {} },
    )
    const listener = await listen(old, 'tcp://127.0.0.1:0')
    const { address } = listener
    const before = await connect(address, quiet)
    expect(before.server).toMatchObject({ name: 'old', revision: { name: '2025-06-18' } })
    await before.close()
    await listener.close()
    const upgraded = new Server(
      { name: 'new', version: '2.0.0' },
      { revisions: ['2026-07-28'], onError: () => {} },
    )
    await using _ = await listen(upgraded, address)
    await using after = await connect(address, quiet)
    expect(after.server).toMatchObject({ name: 'new', revision: { name: '2026-07-28' } })
  })
})

describe('a program that is killed', () => {
  test('is restarted, and its calls in flight have an unknown outcome', async () => {
    proves('T7b')
    const { pids, options } = observed()
    const file = fileURLToPath(new URL('../fixtures/everything-stdio.js', import.meta.url))
    const program = { command: process.execPath, args: [file] }
    await using client = await connect(program, { ...options, reconnect: { baseMs: 1 } })
    const changes = client.changes({ resources: ['test://watched-resource'] })
    await changes.ready
    const call = client.call('test_wait', {})
    call.catch(() => {})
    await client.call('test_simple_text')
    process.kill(pids[0] ?? expect.unreachable(), 'SIGKILL')
    await expect(call).rejects.toMatchObject({ code: 'outcome-unknown' })
    expect(await changes.next()).toMatchObject({ value: { type: 'reconnected' } })
    await client.call('test_trigger_resource_update')
    expect(await changes.next()).toMatchObject({ value: { type: 'resource' } })
    expect(pids).toHaveLength(2)
    await changes.return()
  })

  test('again and again is given up, and the client is closed', async () => {
    const { pids, options } = observed()
    const reconnect = { attempts: 2, baseMs: 1, maxMs: 1 }
    const client = await connect(unknownProgram('refuses'), { ...options, reconnect })
    for (let round = 0; round < 3; round++) {
      await client.call('who')
      process.kill(pids.at(-1) ?? expect.unreachable(), 'SIGKILL')
      if (round < 2) await client.call('who').catch(() => client.call('who'))
    }
    expect(await client.closed).toMatchObject({ code: 'closed' })
    await expect(client.call('who')).rejects.toMatchObject({ code: 'closed' })
    expect(pids).toHaveLength(3)
  })
})

describe('a listener that is restarted at the same address', () => {
  test.each(addresses)('is reconnected to: %s', async wanted => {
    const first = await listen(plain(), wanted)
    const { address } = first
    await using client = await connect(address, {
      ...quiet,
      reconnect: { attempts: 500, baseMs: 1, maxMs: 5 },
    })
    expect((await client.call('add')).text).toBe('added')
    await first.close()
    await using _ = await listen(plain(), address)
    // A list request is retried if it met the end of the old connection.
    expect((await client.request('tools/list', {}, { fresh: true })).tools).toHaveLength(1)
    expect((await client.call('add')).text).toBe('added')
  })
})

describe('strict mode', () => {
  test.each(addresses)('sends nothing that the server has not declared, at %s', async wanted => {
    proves('L5b', 'S17i')
    const server = plain()
    const received: string[] = []
    server.use(next => (message, exchange) => {
      received.push(message.method)
      return next(message, exchange)
    })
    await using listener = await listen(server, wanted)
    await using client = await connect(listener.address, { ...quiet, strict: true })
    const before = received.length
    const refused = { code: 'refused', message: expect.stringContaining('did not declare') }
    await expect(client.prompt('x')).rejects.toMatchObject(refused)
    await expect(client.read('file:///x')).rejects.toMatchObject(refused)
    expect(received.slice(before)).toEqual([])
    expect((await client.call('add')).text).toBe('added')
  })
})

describe('an in-process server', () => {
  test.each([undefined, 'session', 'stateless'] as const)(
    'is connected to directly, in the era %s',
    async era => {
      await using client = await connect(plain(), { onError: () => {}, era })
      expect(client.server.revision.era).toBe(era ?? 'stateless')
      expect((await client.call('add')).text).toBe('added')
    },
  )
})
