import { describe, expect, test } from 'vitest'
import { connectTables } from './connect-options.ts'
import { listenTables } from './listen-options.ts'
import { checkProtocolOptions } from './protocol.ts'

/** Checks what a caller the compiler never saw may have written. */
const listening = (options: unknown) => () => checkProtocolOptions(options, listenTables)
const connecting = (options: unknown) => () => checkProtocolOptions(options, connectTables)

const http = (options: object) => listening({ http: options })
const sessions = (options: object) => http({ sessions: options })

describe('options in groups', () => {
  test.each<[string, () => void, RegExp]>([
    [
      'rules that are none',
      listening({ decode: 5 }),
      /"decode" must be an object of options \(got 5\)$/,
    ],
    [
      'a list of rules',
      listening({ protocol: 'jsonrpc', peer: [] }),
      /"peer" must be an object of options \(got an array\)$/,
    ],
    ['a service that is off', listening({ http: false }), /"http".*\(got false\)$/],
    [
      'half a heartbeat',
      connecting({ heartbeat: { everyMs: 'x' } }),
      /"heartbeat\.everyMs".*\(got "x"\)$/,
    ],
    [
      'less than no attempt',
      connecting({ reconnect: { attempts: -1 } }),
      /"reconnect\.attempts".*\(got -1\)$/,
    ],
    ['no sessions', sessions({ maxSessions: 0 }), /"http\.sessions\.maxSessions"/],
    [
      'sessions of no number',
      sessions({ maxSessionsPerPrincipal: Number.NaN }),
      /"http\.sessions\.maxSessionsPerPrincipal" must be a number ≥ 1 \(got NaN\)$/,
    ],
    [
      'a time no timer takes',
      sessions({ idleMs: 2 ** 31 }),
      /"http\.sessions\.idleMs".*\(got 2147483648\)$/,
    ],
    [
      'a time as text',
      sessions({ initializeTimeoutMs: '10s' }),
      /initializeTimeoutMs".*\(got "10s"\)$/,
    ],
    ['sessions that are none', http({ sessions: 10 }), /"http\.sessions".*\(got 10\)$/],
    [
      'events of no size',
      sessions({ events: { maxBytes: -1 } }),
      /"http\.sessions\.events\.maxBytes".*\(got -1\)$/,
    ],
    ['events that are none', sessions({ events: true }), /"http\.sessions\.events"/],
    [
      'no wait at all',
      connecting({ http: { retry: { maxMs: 0 } } }),
      /"http\.retry\.maxMs".*\(got 0\)$/,
    ],
    ['an age below zero', http({ cors: { maxAgeSeconds: -1 } }), /"http\.cors\.maxAgeSeconds"/],
    [
      'pages that are neither described nor off',
      http({ cors: true }),
      /"http\.cors" must be an object of options or false \(got true\)$/,
    ],
  ])('refuse %s, by their whole name', (_, check, words) => {
    expect(check).toThrow(TypeError)
    expect(check).toThrow(words)
  })

  test.each<[string, () => void]>([
    ['what is left out', listening({ http: { sessions: undefined }, decode: undefined })],
    ['pages and paths that are switched off', http({ cors: false, sse: false })],
    ['a connection that is not opened again', connecting({ reconnect: false })],
    [
      'no attempt at all',
      connecting({ reconnect: { attempts: 0 }, http: { retry: { attempts: 0 } } }),
    ],
    ['preflight results that are not cached', http({ cors: { maxAgeSeconds: 0 } })],
    ['no limit', sessions({ maxSessions: Number.POSITIVE_INFINITY })],
    ['paths', http({ sse: { events: '/sse', messages: '/messages' } })],
  ])('take %s', (_, check) => {
    expect(check).not.toThrow()
  })

  test('do not check objects with free member names', () => {
    const headers = { maxBytes: 'x' }
    expect(connecting({ headers, http: { headers: { waitMs: 'x' } } })).not.toThrow()
  })
})

describe('names that no option has', () => {
  test.each<[string, () => void, string]>([
    [
      'a slip of listening',
      listening({ maxConections: 5 }),
      'unknown option "maxConections"; did you mean "maxConnections"?',
    ],
    [
      'a slip in a group of listening',
      http({ sessions: { idleMS: 5 } }),
      'unknown option "http.sessions.idleMS"; did you mean "http.sessions.idleMs"?',
    ],
    [
      'a slip of connecting',
      connecting({ handshakeMS: 5 }),
      'unknown option "handshakeMS"; did you mean "handshakeMs"?',
    ],
    [
      'a slip in a group of connecting',
      connecting({ http: { retry: { atempts: 5 } } }),
      'unknown option "http.retry.atempts"; did you mean "http.retry.attempts"?',
    ],
    [
      'what only plain JSON-RPC has',
      connecting({ methods: {} }),
      'unknown option "methods"; known options: framing, ',
    ],
    [
      'what only MCP has',
      listening({ protocol: 'jsonrpc', ops: {} }),
      'unknown option "ops"; known options: framing, ',
    ],
    [
      'what the address says',
      http({ path: '/mcp' }),
      'unknown option "http.path"; known options: maxInFlight, ',
    ],
  ])('are refused: %s', (_, check, words) => {
    expect(check).toThrow(TypeError)
    expect(check).toThrow(words)
  })

  test('depend on the protocol, which is checked first', () => {
    expect(listening({ protocol: 'smtp', nonsense: 1 })).toThrow(
      new TypeError(`option "protocol" must be 'mcp' or 'jsonrpc' (got "smtp")`),
    )
    expect(listening({ protocol: 'jsonrpc', onPeer: () => {} })).not.toThrow()
  })
})
