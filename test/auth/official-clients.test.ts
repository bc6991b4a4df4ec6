import {
  Client as Client2,
  StreamableHTTPClientTransport as Transport2,
} from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, describe, expect, test } from 'vitest'
import { jwt } from '../../src/auth/index.ts'
import { listen } from '../../src/listen.ts'
import { Server } from '../../src/server/server.ts'
import { officialLogin } from '../support/official-login.ts'
import { oidcProvider } from '../support/oidc-provider.js'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const info = { name: 'official', version: '1' }

async function guarded() {
  const as = await oidcProvider()
  cleanUps.push(() => as.close())
  const server = new Server({ name: 'notes', version: '1' })
  server.tool('who', {}, (_, ctx) => String(ctx.caller.principal?.subject))
  server.tool('purge', { auth: { scopes: ['notes:write'] } }, () => 'purged')
  const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
    auth: { verify: jwt({ issuer: as.issuer }), scopes: ['notes:read'] },
  })
  cleanUps.push(() => server.close())
  cleanUps.push(() => listener.close())
  return { as, url: new URL(listener.address), login: officialLogin(as.open) }
}

/** A client of either package, and how it finishes a login. */
const packages = {
  'SDK 1': (url: URL, { provider, code }: ReturnType<typeof officialLogin>) => {
    const make = () => {
      const client = new Client1(info)
      const transport = new Transport1(url, { authProvider: provider })
      cleanUps.push(() => client.close())
      return {
        client,
        connect: () => client.connect(transport),
        finish: () => transport.finishAuth(code()),
      }
    }
    return make
  },
  'SDK 2': (url: URL, { provider, callback }: ReturnType<typeof officialLogin>) => {
    const make = () => {
      const client = new Client2(info)
      const transport = new Transport2(url, { authProvider: provider })
      cleanUps.push(() => client.close())
      return {
        client,
        connect: () => client.connect(transport),
        finish: () => transport.finishAuth(callback()),
      }
    }
    return make
  },
}

describe.each(Object.entries(packages))('a client of %s', (_, clientsOf) => {
  test('registers and logs in by the challenge and the metadata', async () => {
    const { as, url, login } = await guarded()
    const make = clientsOf(url, login)
    const first = make()
    await expect(first.connect()).rejects.toThrow(/unauthorized/i)
    await first.finish()
    const second = make()
    await second.connect()
    const called = await second.client.callTool({ name: 'who', arguments: {} })
    expect(called.content).toEqual([{ type: 'text', text: 'ada' }])
    expect(as.grants).toEqual(['authorization_code'])
    const [page] = login.pages
    expect(page?.searchParams.get('resource')).toBe(url.href)
    expect(page?.searchParams.get('scope')).toContain('notes:read')
  })

  test('asks for the scopes of a tool after the challenge', async () => {
    const { as, url, login } = await guarded()
    // Both packages register a client for the scopes of the first challenge only.
    const registration = {
      ...login.provider.clientMetadata,
      scope: 'offline_access notes:read notes:write',
    }
    const registered = await fetch(`${as.issuer}/reg`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(registration),
    })
    login.provider.saveClientInformation(await registered.json())
    const make = clientsOf(url, login)
    const first = make()
    await expect(first.connect()).rejects.toThrow(/unauthorized/i)
    await first.finish()
    const second = make()
    await second.connect()
    await expect(second.client.callTool({ name: 'purge', arguments: {} })).rejects.toThrow()
    await second.finish()
    const third = make()
    await third.connect()
    const purged = await third.client.callTool({ name: 'purge', arguments: {} })
    expect(purged.content).toEqual([{ type: 'text', text: 'purged' }])
    expect(login.pages).toHaveLength(2)
    expect(login.pages[1]?.searchParams.get('scope')).toContain('notes:write')
  })
})
