import { once } from 'node:events'
import { type AddressInfo, createServer, Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { BrowserLogin } from '../../src/auth/connect/browser-login.ts'
import {
  introspection,
  jwt,
  login,
  memoryStore,
  type OAuthOptions,
  oauth,
  revoke,
  VerifierUnavailable,
} from '../../src/auth/index.ts'
import { issuerNetwork } from '../../src/auth/network/issuer-network.ts'
import { devIssuer } from '../../src/testing/dev-issuer/dev-issuer.ts'
import { authorizationServer, authorizedRequest } from '../support/authorization-server.ts'
import { tokenIssuer } from '../support/issuer.ts'

/** The addresses to which anything of this process has begun to connect. */
let attempts: string[] = []
/** The names that were resolved. */
let resolved: string[] = []
const hosts: Readonly<Record<string, readonly string[]>> = {
  'cloud.example': ['169.254.169.254'],
  'mixed.example': ['8.8.8.8', '169.254.169.254'],
  'link.example': ['fe80::1'],
}
const lookup = async (host: string) => {
  resolved.push(host)
  return hosts[host] ?? []
}

let as: Awaited<ReturnType<typeof authorizationServer>>
beforeEach(async () => {
  as = await authorizationServer()
  attempts = []
  resolved = []
  const connect = Socket.prototype.connect
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (
    this: Socket,
    ...args: unknown[]
  ) {
    this.on('connectionAttempt', (address, port) => attempts.push(`${address} ${port}`))
    return Reflect.apply(connect, this, args)
  })
})
afterEach(async () => {
  vi.restoreAllMocks()
  await as.close()
})

/** URLs that nobody may make this program request, although the MCP server is on this machine. */
const forbidden = [
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://0xa9fea9fe/',
  'https://0251.0376.0251.0376/',
  'https://169.254.43518/',
  'https://[::ffff:169.254.169.254]/',
  'https://[fe80::1]/',
  'https://[fd00:ec2::254]/',
  'https://cloud.example/',
  'https://mixed.example/',
  'https://link.example/',
  'http://169.254.169.254/',
  'http://cloud.example/',
  'https://user:password@cloud.example/',
  'ftp://cloud.example/',
  'file:///etc/passwd',
]

/** The places at which a URL comes from outside, each with what makes it a forbidden one. */
const places: Readonly<Record<string, (url: string) => void>> = {
  'resource_metadata of a challenge': url => {
    as.challenge.value = `Bearer resource_metadata="${url}"`
  },
  'authorization_servers of the resource': url => {
    as.resourceMetadata.authorization_servers = [url]
  },
  'the token endpoint': url => {
    as.metadata.token_endpoint = url
  },
  'the registration endpoint': url => {
    as.metadata.registration_endpoint = url
  },
  'a redirect of the metadata of the resource': url => {
    as.routes.set('/.well-known/oauth-protected-resource/mcp', () => redirectTo(url))
  },
  'a redirect of the metadata of the authorization server': url => {
    as.routes.set('/.well-known/oauth-authorization-server', () => redirectTo(url))
  },
  'a redirect of the token endpoint': url => {
    as.routes.set('/token', () => redirectTo(url))
  },
  'a redirect of the registration endpoint': url => {
    as.routes.set('/register', () => redirectTo(url))
  },
}

const redirectTo = (location: string) => ({ status: 307, headers: { location } })
const user = (options: OAuthOptions = {}) =>
  oauth({
    redirect: 'http://127.0.0.1:9/callback',
    open: as.open,
    store: memoryStore(),
    network: { lookup },
    ...options,
  })

/** The connections to anything but the server of the test. */
const elsewhere = () => attempts.filter(address => address !== `127.0.0.1 ${as.url.port}`)

describe.each(Object.entries(places))('%s', (_, place) => {
  test.each(forbidden)('as %s opens no connection', async url => {
    place(url)
    await expect(authorizedRequest(user(), as.url)).rejects.toThrow()
    expect(elsewhere()).toEqual([])
    expect(attempts).not.toEqual([])
  })
})

/** What makes the endpoint for revoking tokens a forbidden one. */
const revocation: Readonly<Record<string, (url: string) => void>> = {
  'the revocation endpoint': url => {
    as.metadata.revocation_endpoint = url
  },
  'a redirect of the revocation endpoint': url => {
    as.routes.set('/revoke', () => redirectTo(url))
  },
}

describe.each(Object.entries(revocation))('%s', (_, place) => {
  test.each(forbidden)('as %s opens no connection', async url => {
    const store = memoryStore()
    const network = { lookup }
    await login(as.url, {
      store,
      network,
      redirect: 'http://127.0.0.1:9/callback',
      open: as.open,
    })
    place(url)
    attempts = []
    // The tokens are removed, whatever the authorization server says.
    expect(await revoke(as.url, { store, network })).toBe(true)
    expect(await store.keys?.()).not.toContainEqual(expect.stringMatching(/^tokens /))
    expect(elsewhere()).toEqual([])
    expect(attempts).not.toEqual([])
  })
})

// The endpoint itself is the choice of the operator.
test.each(forbidden)(
  'a redirect of the introspection endpoint to %s opens no connection',
  async url => {
    as.routes.set('/introspect', () => redirectTo(url))
    const verifier = introspection({
      issuer: as.origin,
      endpoint: `${as.origin}/introspect`,
      clientId: 'tools',
      clientSecret: 'secret',
    })
    const request = { method: 'POST', path: '/', audiences: ['a'], certificate: undefined }
    await expect(verifier.verify('token', request)).rejects.toThrow(VerifierUnavailable)
    expect(as.at('/introspect')).toHaveLength(1)
    expect(elsewhere()).toEqual([])
  },
)

test.each(forbidden)('the metadata document of a client as %s opens no connection', async url => {
  const issuer = await devIssuer({ network: { lookup } })
  const page = new URL('/authorize', issuer.issuer)
  const asked = { client_id: url, response_type: 'code', redirect_uri: 'http://127.0.0.1:9/' }
  for (const [name, value] of Object.entries(asked)) page.searchParams.set(name, value)
  const { status } = await fetch(page, { redirect: 'manual' })
  expect(status).toBe(400)
  const { port } = new URL(issuer.issuer)
  expect(attempts.filter(address => address !== `127.0.0.1 ${port}`)).toEqual([])
  await issuer.close()
})

test.each(forbidden)('jwks_uri of an issuer as %s opens no connection', async url => {
  as.metadata.jwks_uri = url
  const network = issuerNetwork([as.origin], { lookup })
  const verifier = jwt({ issuer: as.origin, network })
  const { token } = await tokenIssuer(as.origin)
  const request = { method: 'POST', path: '/', audiences: ['a'], certificate: undefined }
  const signed = await token({ claims: { aud: 'a' } })
  await expect(verifier.verify(signed, request)).rejects.toThrow(VerifierUnavailable)
  expect(elsewhere()).toEqual([])
  expect(as.at('/.well-known/oauth-authorization-server')).not.toEqual([])
})

test.each(forbidden.filter(url => !url.includes('.example')))(
  'jwks_uri of the issuer of a browser login as %s opens no connection',
  async url => {
    as.metadata.jwks_uri = url
    const { token } = await tokenIssuer(as.origin)
    const browser = new BrowserLogin({ issuer: as.origin, clientId: 'router' })
    const { pending } = await browser.begin('http://127.0.0.1:9/callback')
    const idToken = await token({ claims: { aud: 'router', nonce: pending.nonce } })
    as.routes.set('/token', () => ({
      body: { access_token: 'a', token_type: 'Bearer', id_token: idToken },
    }))
    const query = new URLSearchParams({ code: 'c', iss: as.origin })
    await expect(browser.finish(pending, query)).rejects.toThrow(VerifierUnavailable)
    expect(elsewhere()).toEqual([])
    expect(as.at('/token')).not.toEqual([])
  },
)

test('keys at a host that the issuer names are fetched, if it is as near as the issuer', async () => {
  const keys = await authorizationServer()
  const { token, jwks } = await tokenIssuer(as.origin)
  keys.routes.set('/keys', () => ({ body: jwks }))
  as.metadata.jwks_uri = `${keys.origin}/keys`
  const verifier = jwt({ issuer: as.origin })
  const request = { method: 'POST', path: '/', audiences: ['a'], certificate: undefined }
  const { principal } = await verifier.verify(await token({ claims: { aud: 'a' } }), request)
  expect(principal.issuer).toBe(as.origin)
  verifier.close?.()
  await keys.close()
})

describe('a server on the internet', () => {
  const canary = createServer(socket => socket.destroy())
  let connections = 0
  canary.on('connection', () => connections++)
  beforeAll(async () => {
    canary.listen(0, '127.0.0.1')
    await once(canary, 'listening')
  })
  afterAll(async () => {
    canary.close()
    await once(canary, 'close')
  })

  test.each([
    'https://127.0.0.1',
    'https://localhost',
    'https://[::ffff:127.0.0.1]',
    'https://2130706433',
    'https://127.1',
    'https://0.0.0.0',
    'https://private.example',
  ])('cannot make a client connect to %s', async origin => {
    // The check: a TCP server that listens has an address with a port.
    const { port } = canary.address() as AddressInfo
    const own = async (host: string) => (host === 'private.example' ? ['127.0.0.1'] : [])
    as.challenge.value = `Bearer resource_metadata="${origin}:${port}/"`
    const network = { reach: 'public', lookup: own } as const
    await expect(authorizedRequest(user({ network }), as.url)).rejects.toMatchObject({
      code: 'insecure',
    })
    expect(connections).toBe(0)
    expect(elsewhere()).toEqual([])
  })
})
