// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables look like that
import { describe, expect, test } from 'vitest'
import { diffConfig } from '../diff.ts'
import { ConfigError } from '../issue.ts'
import { readAuthConfig, readConfig } from '../read.ts'
import { redactedConfig } from '../redact.ts'

const issuer = 'https://as.example'
const introspection = { issuer, endpoint: issuer, clientId: 'r', clientSecret: '${SECRET}' }
const env = { SECRET: 'hush-hush' }
const read = (auth: unknown, more: object = {}) =>
  readConfig(JSON.stringify({ mcpServers: {}, auth, ...more }), { env })

describe('auth in a file', () => {
  test('is read, with the path of a key file as a shorthand', () => {
    expect(read({ apiKeys: 'keys.json', scopes: ['mcp'] }).auth).toEqual({
      apiKeys: { file: 'keys.json' },
      scopes: ['mcp'],
    })
    const jwt = { issuer: [issuer, `${issuer}/`], audience: 'a', rolesFrom: 'r' }
    expect(read({ jwt, introspection }).auth).toEqual({
      jwt,
      introspection: { ...introspection, clientSecret: 'hush-hush' },
    })
    expect(read(undefined).auth).toBeUndefined()
  })

  test.each([
    ['nothing', {}, 'auth needs one of jwt, introspection, apiKeys'],
    ['no issuer', { jwt: {} }, 'auth.jwt: it needs issuer'],
    ['an insecure issuer', { jwt: { issuer: 'http://as.example' } }, 'must be an https: URL'],
    ['a resource that is no URL', { apiKeys: 'k', resource: 'x' }, 'must be an https: URL'],
    ['half an endpoint', { introspection: { issuer } }, 'endpoint and clientId and clientSecret'],
    [
      'a secret in the file',
      { introspection: { ...introspection, clientSecret: 'hush-hush' } },
      'clientSecret must be a reference such as "${NAME}"',
    ],
    ['an unknown way', { jwts: {} }, 'did you mean "jwt"?'],
  ])('is refused with %s', (_, auth, message) => {
    // Never a warning, also in a file without other settings: the router would be open then.
    expect(() => read(auth)).toThrow(message)
    expect(() => readAuthConfig(JSON.stringify(auth), { env })).toThrow(ConfigError)
    expect(() => read(auth)).not.toThrow('hush-hush')
  })

  test('allows addresses that other machines can reach, except for metrics', () => {
    const listen = 'http://0.0.0.0:3000/mcp'
    const auth = { apiKeys: 'keys.json', resource: 'https://tools.example/mcp' }
    expect(read(auth, { listen }).listen).toEqual([listen])
    expect(() => read(auth, { metrics: 'http://0.0.0.0:9090' })).toThrow('metrics has an address')
  })

  test('is a setting that needs a restart, and is shown without its secret', () => {
    const [before, after] = [read({ apiKeys: 'a.json' }), read({ introspection })]
    expect(diffConfig(before, after).settings).toEqual(['auth'])
    const shown = JSON.stringify(redactedConfig(after))
    expect(shown).toContain('"clientSecret":"${SECRET}"')
    expect(shown).not.toContain('hush-hush')
  })
})

test('a file of its own has the fields of auth', () => {
  const text = '{ "apiKeys": "keys.json", /* all of them */ }'
  expect(readAuthConfig(text, { env })).toEqual({ apiKeys: { file: 'keys.json' } })
  expect(() => readAuthConfig('[]', { env })).toThrow(ConfigError)
  expect(() => readAuthConfig('{', { env })).toThrow(ConfigError)
})

describe('auth of a server that acts for its callers', () => {
  const exchange = { issuer, clientId: 'router', clientSecret: '${SECRET}' }
  const idp = { issuer, clientId: 'router', clientSecret: '${SECRET}' }
  const idJag = { idp, ...exchange }
  const url = 'https://orders.example/mcp'
  const readServer = (server: object, auth: unknown) =>
    readConfig(
      JSON.stringify({ mcpServers: { it: { url, ...server } }, ...(auth !== null && { auth }) }),
      { env },
    )
  const problemOf = (server: object, auth: unknown = { jwt: { issuer } }): string => {
    try {
      const { warnings } = readServer(server, auth)
      return warnings.map(({ message }) => message).join('; ')
    } catch (error) {
      return String(error)
    }
  }

  test('is read, and shown without its secrets', () => {
    const lister = { bearer: '${SECRET}' }
    const config = readServer({ auth: { exchange }, lister }, { jwt: { issuer } })
    expect(config.servers.it).toMatchObject({
      auth: { exchange: { ...exchange, clientSecret: 'hush-hush' } },
      lister: { bearer: 'hush-hush' },
    })
    expect(JSON.stringify(redactedConfig(config))).not.toContain('hush-hush')
    expect(problemOf({ auth: { idJag } })).toBe('')
    expect(problemOf({ auth: { exchange } }, { introspection })).toBe('')
  })

  test.each<readonly [string, object, unknown, string]>([
    ['callers that nobody identifies', { auth: { exchange } }, null, 'set jwt or introspection'],
    [
      'callers with API keys only',
      { auth: { idJag } },
      { apiKeys: 'k.json' },
      'set jwt or introspection',
    ],
    [
      'a secret in the file',
      { auth: { exchange: { ...exchange, clientSecret: 'hush' } } },
      undefined,
      'clientSecret must be a reference',
    ],
    [
      'a secret of the identity provider in the file',
      { auth: { idJag: { ...idJag, idp: { ...idp, clientSecret: 'hush' } } } },
      undefined,
      'clientSecret must be a reference',
    ],
    ['no authorization server', { auth: { exchange: { clientId: 'x' } } }, undefined, 'it needs'],
    ['two ways', { auth: { exchange, idJag } }, undefined, 'auth must have one of'],
    [
      'a WebSocket',
      { url: 'wss://a.example/', auth: { exchange } },
      undefined,
      'HTTP addresses only',
    ],
    [
      'a lister without effect',
      { auth: { bearer: '${SECRET}' }, lister: 'stored' },
      undefined,
      'lister has no effect',
    ],
    [
      'a lister that acts for callers',
      { auth: { exchange }, lister: { exchange } },
      undefined,
      'lister',
    ],
  ])('is refused with %s', (_, server, auth, message) => {
    expect(problemOf(server, auth)).toContain(message)
  })
})

describe('users who grant access on pages', () => {
  const jwt = { issuer }
  const readUser = (auth: unknown, user: unknown = {}) =>
    readConfig(
      JSON.stringify({ mcpServers: { it: { url: 'https://it.example', auth: { user } } }, auth }),
      { env },
    )

  test('need a login of browsers, unless only this machine reaches the pages', () => {
    const login = { clientId: 'pages', clientSecret: '${SECRET}' }
    const resource = 'https://tools.example/mcp'
    expect(readUser({ jwt, resource, login }).auth?.login?.clientSecret).toBe('hush-hush')
    expect(readUser({ jwt, resource: 'http://127.0.0.1:3000/mcp' }).servers.it?.auth).toEqual({
      user: {},
    })
    expect(() => readUser({ jwt, resource })).toThrow('set login in "auth"')
    expect(JSON.stringify(redactedConfig(readUser({ jwt, login })))).not.toContain('hush-hush')
  })

  test.each([
    ['API keys', { jwt, apiKeys: 'keys.json' }, {}, 'remove apiKeys'],
    ['no tokens', undefined, {}, 'set jwt or introspection'],
    ['a secret alone', { jwt }, { clientSecret: '${SECRET}' }, 'clientSecret requires clientId'],
    ['a secret in the file', { jwt }, { clientId: 'a', clientSecret: 'b' }, 'must be a reference'],
    ['a login without an id', { jwt, login: {} }, {}, 'it needs clientId'],
  ])('are refused with %s', (_, auth, user, message) => {
    expect(() => readUser(auth, user)).toThrow(message)
  })
})
