import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixtureServer } from './cells.ts'
import type { Program } from './driver.ts'
import { type OddFrame, oddFrames, RawServer } from './odd-frames.ts'
import { checkSent } from './schema-check.ts'

const jsonrpc: Program = {
  command: process.execPath,
  args: [fileURLToPath(new URL('jsonrpc-server.js', import.meta.url))],
}

/** A one-line server: `code` gets each line as `line` and replies with `say`. */
const lines = (code: string): Program => ({
  command: process.execPath,
  args: [
    '-e',
    `const say = what => console.log(JSON.stringify(what))
    require('node:readline').createInterface({ input: process.stdin }).on('line', line => {${code}})`,
  ],
})

const odd: OddFrame = { name: 'something odd', line: '"odd"', answers: [{}] }
const isOdd = `line === '"odd"'`
/** Answers every request, and nothing else. */
const pongs = `const { id } = JSON.parse(line); if (id) say({ jsonrpc: '2.0', id, result: {} })`

describe.each([
  { name: 'plain JSON-RPC', program: jsonrpc },
  { name: 'our server', program: fixtureServer('ours') },
])('$name answers odd frames as it should', ({ program }) => {
  let server: RawServer

  beforeAll(async () => {
    server = new RawServer(program)
    expect(await server.initialize('2025-03-26')).toMatchObject({
      id: 'initialize',
      result: { protocolVersion: '2025-03-26' },
    })
  })

  afterAll(async () => {
    expect(await server.close()).toBe(0)
  })

  test.each(oddFrames)('$name', async frame => {
    expect(await server.exchange(frame)).toMatchObject(frame.answers)
  })

  test('a message over the limit', async () => {
    const line = JSON.stringify({ jsonrpc: '2.0', id: 14, method: 'x'.repeat(10 << 20) })
    const answers = [{ jsonrpc: '2.0', id: null, error: { code: -32012 } }]
    expect(await server.exchange({ name: 'a large one', line, answers })).toMatchObject(answers)
  })
})

test.each(['2025-03-26', '2025-11-25'] as const)(
  'the responses of our server to odd frames match the schema of %s',
  async revision => {
    await using server = new RawServer(fixtureServer('ours'))
    await server.initialize(revision)
    for (const frame of oddFrames) {
      for (const answer of await server.exchange(frame)) {
        expect(checkSent(revision, 'server', answer), frame.name).toEqual([])
      }
    }
  },
)

describe('the runner of odd frames', () => {
  test('has thirteen distinct frames', () => {
    expect(oddFrames.length).toBe(13)
    expect(new Set(oddFrames.map(({ line }) => line)).size).toBe(13)
  })

  test('reports a missing response', async () => {
    await using server = new RawServer(lines(pongs), { deadlineMs: 300 })
    await server.initialize('2025-03-26')
    await expect(server.exchange(odd)).rejects.toThrow('an answer to something odd did not come')
  })

  test('reports a server that does not answer afterwards', async () => {
    await using server = new RawServer(lines(`if (${isOdd}) say({})`), {
      deadlineMs: 300,
    })
    await expect(server.exchange(odd)).rejects.toThrow('a ping after something odd did not come')
  })

  test('reports a server that exits', async () => {
    await using server = new RawServer(lines('process.exit(0)'))
    await expect(server.exchange(odd)).rejects.toThrow('the connection has ended')
  })

  test('returns unexpected responses', async () => {
    await using server = new RawServer(lines(`if (${isOdd}) say('first'); else {${pongs}}`))
    expect(await server.exchange({ ...odd, answers: [] })).toEqual(['first'])
  })

  test('kills a server that does not exit', async () => {
    const server = new RawServer(lines('setInterval(() => {}, 1000); say({ id: "initialize" })'), {
      deadlineMs: 300,
    })
    await server.initialize('2025-03-26')
    expect(await server.close()).toBeNull()
    expect(await server.close()).toBeNull()
  })
})
