import { describe, expect, test } from 'vitest'
import { checkOptions, type WireOptions } from './protocol.ts'

/** Checks what a caller the compiler never saw may have written. */
const check = (options: object) => () => checkOptions(options as WireOptions)

describe('options in groups', () => {
  test.each<[string, object, RegExp]>([
    ['rules that are none', { decode: 5 }, /"decode" is an object of options, not 5$/],
    ['a list of rules', { peer: [] }, /"peer" is an object of options, not an array$/],
    ['a service that is off', { http: false }, /"http".*not false$/],
    ['half a heartbeat', { heartbeat: { everyMs: 'x' } }, /"heartbeat\.everyMs".*not "x"$/],
    ['less than no attempt', { restart: { attempts: -1 } }, /"restart\.attempts".*not -1$/],
    ['no sessions', { http: { sessions: { maxSessions: 0 } } }, /"http\.sessions\.maxSessions"/],
    [
      'sessions of no number',
      { http: { sessions: { maxSessionsPerPrincipal: Number.NaN } } },
      /"http\.sessions\.maxSessionsPerPrincipal" is a number from 1 to Infinity, not NaN$/,
    ],
    [
      'a time no timer takes',
      { http: { sessions: { idleMs: 2 ** 31 } } },
      /"http\.sessions\.idleMs".*not 2147483648$/,
    ],
    ['a time as text', { http: { sessions: { openingMs: '10s' } } }, /openingMs".*not "10s"$/],
    ['sessions that are none', { http: { sessions: 10 } }, /"http\.sessions".*not 10$/],
    [
      'events of no size',
      { http: { sessions: { events: { maxBytes: -1 } } } },
      /"http\.sessions\.events\.maxBytes".*not -1$/,
    ],
    ['events that are none', { http: { sessions: { events: true } } }, /"http\.sessions\.events"/],
    ['no wait at all', { http: { retry: { maxMs: 0 } } }, /"http\.retry\.maxMs".*not 0$/],
    ['an age below zero', { http: { cors: { maxAgeSeconds: -1 } } }, /"http\.cors\.maxAgeSeconds"/],
    [
      'pages that are neither described nor off',
      { http: { cors: true } },
      /"http\.cors" is an object of options or false, not true$/,
    ],
  ])('refuse %s, by their whole name', (_, options, words) => {
    expect(check(options)).toThrow(TypeError)
    expect(check(options)).toThrow(words)
  })

  test.each<[string, object]>([
    ['what is left out', { http: { sessions: undefined }, decode: undefined }],
    ['what is switched off', { restart: false, http: { cors: false, sse: false } }],
    ['no attempt at all', { restart: { attempts: 0 }, http: { retry: { attempts: 0 } } }],
    ['leave that is not kept', { http: { cors: { maxAgeSeconds: 0 } } }],
    ['no limit', { http: { sessions: { maxSessions: Number.POSITIVE_INFINITY } } }],
    ['paths', { http: { sse: { events: '/sse', messages: '/messages' } } }],
  ])('take %s', (_, options) => {
    expect(check(options)).not.toThrow()
  })

  test('do not look into objects whose members somebody else names', () => {
    expect(check({ headers: { maxBytes: 'x' }, http: { headers: { waitMs: 'x' } } })).not.toThrow()
  })
})
