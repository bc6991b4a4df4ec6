import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listen } from '../../src/index.ts'
import { Peer } from '../../src/jsonrpc/peer/peer.ts'
import { pageMethods } from './methods.js'
import { cuts, type Raw, rawChannel, rawEnds, rawTcp, rawWebSocket } from './raw.ts'
import { examples } from './specification-page.ts'

// Reports that a notification found no method, which is intended.
const peerOptions = { onError: () => {} }
const jsonrpc = { protocol: 'jsonrpc', peer: peerOptions } as const

/**
 * The transports that the page is tested on. Each opens one raw connection and returns how to close
 * everything.
 */
const wires: readonly {
  readonly name: string
  readonly isLines?: boolean
  open(): Promise<{ readonly raw: Raw; readonly end: () => Promise<unknown> }>
}[] = [
  {
    name: 'a peer alone',
    open: async () => {
      const { channel, raw } = rawChannel()
      const peer = new Peer(channel, pageMethods, peerOptions)
      return { raw, end: () => peer.close() }
    },
  },
  {
    name: 'TCP with a message per line',
    isLines: true,
    open: async () => {
      const listener = await listen(pageMethods, 'tcp://127.0.0.1:0', jsonrpc)
      const raw = await rawTcp(listener.address, cuts.lines)
      return { raw, end: () => listener.close() }
    },
  },
  {
    name: 'TCP with length prefixes',
    open: async () => {
      const options = { ...jsonrpc, framing: 'length' } as const
      const listener = await listen(pageMethods, 'tcp://127.0.0.1:0', options)
      const raw = await rawTcp(listener.address, cuts.length)
      return { raw, end: () => listener.close() }
    },
  },
  {
    name: 'TCP with Content-Length headers',
    open: async () => {
      const options = { ...jsonrpc, framing: 'headers' } as const
      const listener = await listen(pageMethods, 'tcp://127.0.0.1:0', options)
      const raw = await rawTcp(listener.address, cuts.headers)
      return { raw, end: () => listener.close() }
    },
  },
  {
    name: 'the stdio of a child process',
    isLines: true,
    open: async () => {
      const file = fileURLToPath(new URL('page-server.js', import.meta.url))
      const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] })
      const exited = new Promise(resolve => child.once('exit', resolve))
      return { raw: rawEnds(child.stdout, child.stdin, cuts.lines), end: () => exited }
    },
  },
  {
    name: 'WebSocket',
    open: async () => {
      const listener = await listen(pageMethods, 'ws://127.0.0.1:0', jsonrpc)
      const raw = await rawWebSocket(listener.address)
      return { raw, end: () => listener.close() }
    },
  },
]

const marker = '{"jsonrpc": "2.0", "method": "subtract", "params": [3, 1], "id": "marker"}'
const markerAnswer = { jsonrpc: '2.0', result: 2, id: 'marker' }

describe.each(wires)('the examples page over $name', ({ isLines, open }) => {
  let wire: Awaited<ReturnType<typeof open>>
  beforeAll(async () => {
    wire = await open()
  })
  afterAll(async () => {
    wire.raw.close()
    await wire.end()
  })

  it.each(examples)('answers "$name" as printed', async ({ sent, answered }) => {
    const { raw } = wire
    // With line framing, a message that the page prints on several lines is sent on one.
    raw.send(isLines === true ? sent.replaceAll('\n', ' ') : sent)
    raw.send(marker)
    if (answered !== undefined) expect(JSON.parse(await raw.next())).toEqual(JSON.parse(answered))
    // Nothing else arrived: what the page leaves unanswered is unanswered.
    expect(JSON.parse(await raw.next())).toEqual(markerAnswer)
  })
})
