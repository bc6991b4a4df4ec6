import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectSocket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { connect } from '../../src/index.ts'

const file = fileURLToPath(new URL('listen-server.js', import.meta.url))
const jsonrpc = { protocol: 'jsonrpc' } as const

type Child = ChildProcessByStdio<Writable, Readable, null>

function start(command: string, ...args: string[]): Child {
  return spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
}

async function addressOf(child: Child): Promise<string> {
  return String((await once(child.stdout, 'data'))[0]).trim()
}

async function finish(child: Child): Promise<unknown> {
  const exit = once(child, 'exit')
  child.stdin.end()
  return (await exit)[0]
}

describe.each([
  ['tcp://:0', []],
  ['ws://:0', ['ws']],
])('a process that listens on %s', (address, packages) => {
  test('has loaded no package it does not need, and exits when it closes', async () => {
    const child = start(process.execPath, file, address)
    const peer = await connect(await addressOf(child), jsonrpc)
    expect(await peer.call('packages')).toEqual(packages)
    expect(await finish(child)).toBe(0)
    await peer.close()
  })

  test('survives having no file descriptors left', async () => {
    const child = start('sh', '-c', `ulimit -n 48; exec "$0" "$@"`, process.execPath, file, address)
    const bound = await addressOf(child)
    const { hostname, port } = new URL(bound)
    const sockets = Array.from({ length: 100 }, () => connectSocket(Number(port), hostname))
    for (const socket of sockets) socket.on('error', () => {}).resume()
    // Connections beyond the limit are closed.
    await Promise.race(sockets.map(socket => once(socket, 'close')))
    for (const socket of sockets) socket.destroy()
    const sum = async (): Promise<unknown> => {
      const peer = await connect(bound, jsonrpc)
      return peer.call('sum', [1, 2]).finally(() => peer.close())
    }
    await expect.poll(() => sum().catch(() => undefined)).toBe(3)
    expect(await finish(child)).toBe(0)
  })
})

test('a process on stdio sees its input end after the responses are written', async () => {
  const child = start(process.execPath, file, 'stdio:')
  let output = ''
  child.stdout.on('data', chunk => {
    output += chunk
  })
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"sum","params":[1,2]}\n')
  const closed = once(child, 'close')
  child.stdin.end()
  expect(await closed).toEqual([0, null])
  expect(output).toBe('{"jsonrpc":"2.0","id":1,"result":3}\nover\n')
})
