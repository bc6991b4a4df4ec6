import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { bearer, clientCredentials, exchange, jwt } from '../../src/auth/index.ts'
import { connect, listen, type RevisionName } from '../../src/index.ts'
import { observe } from '../../src/observe/index.ts'
import { Router } from '../../src/router/router.ts'
import {
  exchangingServer,
  guardedUpstream,
  longestLeak,
  routerResource,
} from '../support/acting.ts'

/** Starts a server that answers every request with a redirect to another address. */
async function redirecting(to: () => string) {
  const server = createServer((_, response) => response.writeHead(307, { location: to() }).end())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  // The check: a TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/mcp`, close: () => server.close() }
}

test('no part of the token of a caller reaches a server, an error, a log or a metric', async () => {
  const as = await exchangingServer()
  const upstreams = {
    sessions: await guardedUpstream(as, ['2025-11-25']),
    stateless: await guardedUpstream(as, ['2026-07-28']),
  }
  const away = await redirecting(() => upstreams.stateless.url)
  const secret = { clientId: 'router', clientSecret: 'hush-hush' }
  const auth = () => exchange({ ...secret, issuer: as.origin })
  const sinks: string[] = []
  await using router = new Router({
    servers: {
      sessions: { url: upstreams.sessions.url, auth: auth() },
      stateless: { url: upstreams.stateless.url, auth: auth() },
      own: {
        url: upstreams.stateless.url,
        auth: clientCredentials({ ...secret, issuer: as.origin }),
      },
      away: { url: away.url, auth: auth() },
      failing: {
        url: upstreams.stateless.url,
        auth: exchange({ ...secret, tokenEndpoint: `${as.origin}/nowhere` }),
        lister: clientCredentials({ ...secret, issuer: as.origin }),
      },
    },
    onError: error => sinks.push(String(error), JSON.stringify(error), String(Object(error).stack)),
  })
  const stream = new Writable({
    write: (chunk, _, done) => {
      sinks.push(String(chunk))
      done()
    },
  })
  const observer = observe({ endpoint: router, logs: { level: 'debug', stream } })
  const verify = jwt({ issuer: as.origin, jwks: as.issuer.jwks })
  const guard = { auth: { resource: routerResource, verify } }
  const listeners = [
    await listen(router, 'http://127.0.0.1:0/mcp', guard),
    await listen(router, 'ws://127.0.0.1:0/', guard),
  ]
  const token = await as.tokenFor('ada')
  const revisions: readonly RevisionName[] = ['2025-11-25', '2026-07-28']
  for (const { address } of listeners) {
    for (const revision of revisions) {
      await using client = await connect(address, {
        auth: bearer(token),
        revisions: [revision],
        headers: { 'x-upstream-authorization': `Bearer ${token}`, cookie: `token=${token}` },
      })
      for await (const tool of client.tools()) sinks.push(JSON.stringify(tool))
      for (const server of ['sessions', 'stateless', 'own', 'away', 'failing']) {
        const answer = await client.call(`${server}__whoami`).catch((error: unknown) => error)
        sinks.push(String(answer), JSON.stringify(answer))
      }
    }
  }
  sinks.push(
    observer.metricsText(),
    JSON.stringify(router.servers()),
    JSON.stringify(router.deadLetters()),
  )
  await observer.close()
  for (const listener of listeners) await listener.close()
  expect(upstreams.sessions.sessions.length).toBe(4)
  expect(upstreams.stateless.sessions.length).toBe(8)
  for (const { received } of Object.values(upstreams)) {
    // Tokens of one issuer begin with the same characters.
    const rest = as.issued.reduce((text, one) => text.replaceAll(one, ''), received())
    expect(rest.length).toBeGreaterThan(1000)
    expect(longestLeak(token, rest)).toBe(0)
  }
  expect(longestLeak(token, sinks.join('\n'))).toBe(0)
  expect(sinks.join('\n')).not.toContain('hush-hush')
  away.close()
  for (const upstream of Object.values(upstreams)) await upstream.close()
  await as.close()
})
