import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { consolePlan, isServable } from '../../src/cli/up/console/plan.ts'
import { listenConsole } from '../../src/console/listen.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { send, serveConsole } from './setup.ts'

describe('listenConsole', () => {
  let served: Awaited<ReturnType<typeof serveConsole>>
  beforeAll(async () => {
    served = await serveConsole()
  })
  afterAll(() => served.close())

  it('serves the console alone, at the address that it returns', async () => {
    const listener = await listenConsole(served.page, 'http://127.0.0.1:0')
    expect(listener.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const link = new URL(served.page.link(listener.address))
    const headers = { authorization: `Bearer ${link.hash.slice('#key='.length)}` }
    expect((await send(new URL('api/state', link).href, { headers })).status).toBe(200)
    const other = await send(`${listener.address}/mcp`)
    expect([other.status, other.text]).toEqual([404, 'The console is at /console/\n'])
    expect(limits.opsConnections.default).toBeGreaterThan(limits.consoleViewers.default)
    await listener.close()
    await listener.close()
    await expect(send(listener.address)).rejects.toThrow()
  })

  it('ends open streams when it is closed', async () => {
    const listener = await listenConsole(served.page, 'http://127.0.0.1:0')
    const response = await fetch(`${listener.address}/console/api/stream?topics=`, {
      headers: { authorization: `Bearer ${served.page.key}` },
    })
    await listener.close()
    await expect(response.text()).rejects.toThrow()
  })

  it('refuses an address that is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise(resolve => taken.once('listening', resolve))
    // The check: a server that listens on a port has this form of address.
    const { port } = taken.address() as AddressInfo
    const listening = listenConsole(served.page, `http://127.0.0.1:${port}`)
    await expect(listening).rejects.toThrow(/already in use/)
    taken.close()
  })
})

describe('consolePlan', () => {
  const local = ['http://127.0.0.1:3000/mcp']
  const wide = ['http://0.0.0.0:3000/mcp']
  const none = { config: undefined, option: undefined, listen: local, isTerminal: true }

  test.each([
    ['on a terminal', {}, {}],
    ['elsewhere', { isTerminal: false }, undefined],
    ['--no-console', { option: false as const, config: true }, undefined],
    ['"console": false', { config: false }, undefined],
    ['--console over "console": false', { config: false, option: '' }, {}],
    ['--console, not on a terminal', { option: '', isTerminal: false }, {}],
    ['"console": true, not on a terminal', { config: true, isTerminal: false }, {}],
    ['settings', { config: { actions: 'look' as const }, isTerminal: false }, { actions: 'look' }],
    [
      'a separate address',
      { option: 'http://127.0.0.1:9091', listen: wide },
      { address: 'http://127.0.0.1:9091' },
    ],
    [
      'an address of the file',
      { config: { address: 'http://[::1]:9091' }, listen: ['stdio:'] },
      { address: 'http://[::1]:9091' },
    ],
    ['a router that other machines reach', { listen: wide }, undefined],
    ['a router on stdio', { listen: ['stdio:'] }, undefined],
  ])('%s', (_, wishes, expected) => {
    expect(consolePlan({ ...none, ...wishes })).toEqual(expected)
  })

  test.each([
    ['--console at a router that other machines reach', { option: '', listen: wide }, /tunnel/],
    ['an address that other machines reach', { option: 'http://0.0.0.0:9091' }, /no login.*ssh -L/],
    ['"console": true on stdio', { config: true, listen: ['stdio:'] }, /needs an HTTP address/],
    ['an address without HTTP', { option: 'tcp://127.0.0.1:1' }, /cannot be served at/],
  ])('refuses %s', (_, wishes, message) => {
    expect(() => consolePlan({ ...none, ...wishes })).toThrow(message)
  })

  test('an address can serve it if only this machine reaches it, over HTTP', () => {
    expect(isServable('http://localhost:3000/mcp')).toBe(true)
    expect(isServable('https://127.0.0.1:3000/mcp')).toBe(false)
    expect(isServable('http://192.168.1.2:3000/mcp')).toBe(false)
  })
})
