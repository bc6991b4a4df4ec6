import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { connect } from '../../src/connect.ts'
import { serve } from './served.ts'

const fixture = fileURLToPath(new URL('../fixtures/localhost.pem', import.meta.url))

/** Runs a script of this folder in a child process, and returns its output. */
function run(script: string, argument: string, env: Record<string, string> = {}): Promise<string> {
  const file = fileURLToPath(new URL(script, import.meta.url))
  const options = { env: { ...process.env, ...env } }
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [file, argument], options, (error, stdout) => {
      if (error === null) resolve(stdout.trim())
      else reject(error)
    })
  })
}

describe('a server over TLS', () => {
  test('is used when its certificate is trusted', async () => {
    const env = { NODE_EXTRA_CA_CERTS: fixture }
    expect(await run('tls-client.js', 'localhost', env)).toBe('answered me')
  })

  test.each([
    ['is not trusted', 'localhost', {}],
    [
      'is not trusted, whatever the environment sets',
      'localhost',
      { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    ],
    ['names another', '127.0.0.1', { NODE_EXTRA_CA_CERTS: fixture }],
  ])('is rejected when its certificate %s', async (_, host, env) => {
    expect(await run('tls-client.js', host, env)).toMatch(/^refused /)
  })
})

describe('the connections of a client', () => {
  test.each(['stateless', 'session'] as const)(
    'are closed when the client closes, %s',
    async era => {
      const { listener } = await serve()
      const open = () => process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap')
      const before = open().length
      for (let round = 0; round < 5; round++) {
        const clients = await Promise.all(
          Array.from({ length: 20 }, () => connect(listener.address, { era })),
        )
        await Promise.all(clients.map(client => client.call('echo', { word: 'x' })))
        await Promise.all(clients.map(client => client.close()))
      }
      while (open().length > before) await new Promise(resolve => setImmediate(resolve))
    },
  )

  test('do not keep an idle process alive', async () => {
    const { listener } = await serve()
    expect(await run('idle-client.js', listener.address)).toBe('here')
  })

  test.each(['stateless', 'session'] as const)(
    'leave capacity for notifications, %s',
    async era => {
      const { listener } = await serve()
      const elicit = () => ({ action: 'accept', content: { ok: true } }) as const
      const http = { maxOpenRequests: 1 }
      await using client = await connect(listener.address, { era, http, elicit })
      expect((await client.call('ask')).text).toBe('true')
    },
  )

  test('are one for many sequential calls, and one for each concurrent call', async () => {
    const { listener, gate } = await serve()
    const open = () => process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap')
    await using client = await connect(listener.address, { era: 'stateless' })
    const before = open().length
    for (let i = 0; i < 10; i++) await client.call('echo', { word: 'x' })
    expect(open()).toHaveLength(before)
    const words = ['a', 'b', 'c', 'd']
    const calls = words.map(word => client.call('wait', { word }))
    await client.call('echo', { word: 'x' })
    for (const word of words) gate(word).resolve()
    expect((await Promise.all(calls)).map(({ text }) => text)).toEqual(words)
  })
})
