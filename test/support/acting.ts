import { once } from 'node:events'
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from 'node:net'
import { decodeJwt } from 'jose'
import { jwt } from '../../src/auth/index.ts'
import { listen, type RevisionName, Server } from '../../src/index.ts'
import { authorizationServer } from './authorization-server.ts'
import { tokenIssuer } from './issuer.ts'

/** The URL under which callers know the router. */
export const routerResource = 'https://tools.example.com/mcp'

/**
 * Starts an authorization server that issues JSON Web Tokens: to callers of a router, and to the router in exchange for
 * them or for itself.
 */
export async function exchangingServer() {
  const as = await authorizationServer()
  const issuer = await tokenIssuer(as.origin)
  const issued: string[] = []
  as.routes.set('/token', async ({ form }) => {
    const subject = form.get('subject_token')
    const from = subject === null ? { sub: 'the-router' } : decodeJwt(subject)
    const claims = {
      sub: from.sub,
      aud: form.get('resource') ?? '',
      scope: form.get('scope') ?? '',
    }
    const token = await issuer.token({ claims })
    issued.push(token)
    return { body: { access_token: token, token_type: 'Bearer', expires_in: 300 } }
  })
  return {
    ...as,
    issuer,
    /** The tokens that the router has got. */
    issued,
    /** Issues a token for the router to a caller. */
    tokenFor: (sub: string, claims: object = {}) =>
      issuer.token({ claims: { sub, aud: routerResource, ...claims } }),
  }
}

/** Starts a proxy that records all bytes of its clients. */
export async function recordingProxy() {
  const bytes: Buffer[] = []
  const sockets = new Set<Socket>()
  let port = 0
  const proxy = createServer(near => {
    const far = connectTcp(port, '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', chunk => {
      bytes.push(chunk)
      far.write(chunk)
    })
    far.pipe(near)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  // The check: a TCP server that listens has an address with a port.
  const own = (proxy.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${own}/mcp`,
    forwardTo: (target: number) => {
      port = target
    },
    /** Everything that was sent to the server. */
    text: () => Buffer.concat(bytes).toString('latin1'),
    close: async () => {
      for (const socket of sockets) socket.destroy()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}

/** Starts a server that accepts the tokens of an authorization server, and lists a tool for each caller only. */
export async function guardedUpstream(
  as: Awaited<ReturnType<typeof exchangingServer>>,
  revisions?: readonly RevisionName[],
) {
  const server = new Server({ name: 'upstream', version: '1.0.0' }, { revisions })
  const sessions: (string | undefined)[] = []
  const owners: (readonly [session: string, principal: string])[] = []
  server.tool('whoami', {}, (_, { caller, headers }) => {
    const session = headers?.['mcp-session-id']
    sessions.push(session)
    if (session !== undefined) owners.push([session, principalOf(caller.principal)])
    return String(caller.principal?.subject)
  })
  for (const name of ['ada', 'bob', 'the-router']) {
    const visible = (caller: { readonly principal?: { readonly subject?: string } }) =>
      caller.principal?.subject === name
    server.tool(`of-${name}`, { visible }, () => `the secret of ${name}`)
  }
  const proxy = await recordingProxy()
  const verify = jwt({ issuer: as.issuer.issuer, jwks: as.issuer.jwks })
  const listener = await listen(server, 'http://127.0.0.1:0/mcp', {
    allowedHosts: [new URL(proxy.url).host],
    auth: { resource: proxy.url, verify },
  })
  proxy.forwardTo(Number(new URL(listener.address).port))
  return {
    url: proxy.url,
    received: proxy.text,
    /** The session of each call; undefined without sessions. */
    sessions,
    /** The principal of each call in a session. */
    owners,
    close: async () => {
      await proxy.close()
      await listener.close()
      await server.close()
    },
  }
}

function principalOf(principal: { readonly id: string } | undefined): string {
  return principal?.id ?? ''
}

/** The longest part of a token that a text contains, in characters; parts of 12 characters or more count. */
export function longestLeak(token: string, text: string): number {
  let longest = 0
  for (let at = 0; at + 12 <= token.length; at++) {
    let length = 12
    while (at + length <= token.length && text.includes(token.slice(at, at + length))) {
      longest = Math.max(longest, length)
      length++
    }
  }
  return longest
}
