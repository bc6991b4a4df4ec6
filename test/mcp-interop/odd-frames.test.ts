import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Program } from './driver.ts'
import { type OddFrame, oddFrames, RawServer } from './odd-frames.ts'

const jsonrpc: Program = {
  command: process.execPath,
  args: [fileURLToPath(new URL('jsonrpc-server.js', import.meta.url))],
}

/** A server of one line, which has `say` and gets each line as `line`. */
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

describe('plain JSON-RPC answers odd frames as it should', () => {
  let server: RawServer

  beforeAll(async () => {
    server = new RawServer(jsonrpc)
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
})

describe('the runner of odd frames', () => {
  test('has the thirteen', () => {
    expect(oddFrames.length).toBe(13)
    expect(new Set(oddFrames.map(({ line }) => line)).size).toBe(13)
  })

  test('tells of an answer that does not come', async () => {
    await using server = new RawServer(lines(pongs), { deadlineMs: 300 })
    await server.initialize('2025-03-26')
    await expect(server.exchange(odd)).rejects.toThrow('an answer to something odd did not come')
  })

  test('tells of a server that is deaf afterwards', async () => {
    await using server = new RawServer(lines(`if (${isOdd}) say({})`), {
      deadlineMs: 300,
    })
    await expect(server.exchange(odd)).rejects.toThrow('a ping after something odd did not come')
  })

  test('tells of a server that ends', async () => {
    await using server = new RawServer(lines('process.exit(0)'))
    await expect(server.exchange(odd)).rejects.toThrow('the connection has ended')
  })

  test('gives back what came though nothing should', async () => {
    await using server = new RawServer(lines(`if (${isOdd}) say('first'); else {${pongs}}`))
    expect(await server.exchange({ ...odd, answers: [] })).toEqual(['first'])
  })

  test('kills a server that does not leave', async () => {
    const server = new RawServer(lines('setInterval(() => {}, 1000); say({ id: "initialize" })'), {
      deadlineMs: 300,
    })
    await server.initialize('2025-03-26')
    expect(await server.close()).toBeNull()
    expect(await server.close()).toBeNull()
  })
})
