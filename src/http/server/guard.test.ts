import { describe, expect, test } from 'vitest'
import type { HttpRequest } from '../exchange.ts'
import { bodyGuard, OriginGuard } from './guard.ts'

function asking(headers: Record<string, string>): HttpRequest {
  const listed = (name: string) => (headers[name] === undefined ? [] : [headers[name]])
  return {
    header: (name: string) => headers[name],
    local: () => ({ port: 3000, loopback: true }),
    origin: () => ({
      hosts: listed('host'),
      origins: listed('origin'),
      target: '/mcp',
      site: headers['sec-fetch-site'],
    }),
  } as Partial<HttpRequest> as HttpRequest
}

describe('the origin of a request', () => {
  const allowed = { allowedOrigins: ['https://app.example'] }
  const rows: readonly (readonly [string, Record<string, string>, number | undefined])[] = [
    ['a program of this machine', { host: '127.0.0.1:3000' }, undefined],
    ['a name that was made to lead here', { host: 'evil.test' }, 403],
    ['a foreign page', { host: 'localhost:3000', origin: 'https://evil.test' }, 403],
    ['no page in particular', { host: 'localhost:3000', origin: 'null' }, 403],
    [
      'a page that was let in',
      { host: 'localhost:3000', origin: 'https://app.example' },
      undefined,
    ],
    [
      'a page of another site that was let in',
      { host: 'localhost:3000', origin: 'https://app.example', 'sec-fetch-site': 'cross-site' },
      undefined,
    ],
    [
      'a page of another site that does not say which',
      { host: 'localhost:3000', 'sec-fetch-site': 'cross-site' },
      403,
    ],
    [
      'a page of this server',
      { host: 'localhost:3000', origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' },
      undefined,
    ],
  ]

  test.each(rows)('%s', (_, headers, status) => {
    expect(new OriginGuard(allowed).problem(asking(headers))?.status).toBe(status)
  })
})

describe('a body', () => {
  const rows: readonly (readonly [string, Record<string, string>, number | undefined])[] = [
    ['JSON', { 'content-type': 'application/json' }, undefined],
    [
      'JSON that names its encoding',
      { 'content-type': 'Application/JSON; charset=UTF-8' },
      undefined,
    ],
    ['of no type', {}, 415],
    ['text', { 'content-type': 'text/plain' }, 415],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['of a type that only begins like JSON', { 'content-type': 'application/json garbage' }, 415],
    ['of two types', { 'content-type': 'application/json, text/plain' }, 415],
    [
      'in another encoding of characters',
      { 'content-type': 'application/json; charset=utf-16' },
      415,
    ],
    ['compressed', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415],
    [
      'not compressed, and saying so',
      { 'content-type': 'application/json', 'content-encoding': 'identity' },
      undefined,
    ],
  ]

  test.each(rows)('%s', (_, headers, status) => {
    expect(bodyGuard(asking(headers))?.status).toBe(status)
  })
})

describe('a guard that has accepted a client', () => {
  const local = { port: 3000, loopback: true }
  const from = (headers: Record<string, string>, at: Partial<typeof local> = {}): HttpRequest => {
    const request = asking(headers)
    return { ...request, local: () => ({ ...local, ...at }) }
  }
  const usual = { host: 'localhost:3000' }
  const rows: readonly (readonly [string, HttpRequest, number | undefined])[] = [
    ['lets it in again', from(usual), undefined],
    ['refuses another name', from({ host: 'evil.test' }), 403],
    ['refuses the same name at another port', from(usual, { port: 3001 }), 403],
    [
      'refuses a foreign page under the same name',
      from({ ...usual, origin: 'https://e.test' }),
      403,
    ],
    ['refuses who says nothing', from({}), 403],
    ['refuses a page of another site', from({ ...usual, 'sec-fetch-site': 'cross-site' }), 403],
    ['refuses a second host', twice(from(usual)), 403],
    ['refuses a target that is no path', elsewhere(from(usual)), 403],
  ]

  test.each(rows)('%s', (_, request, status) => {
    const guard = new OriginGuard({ allowedHosts: undefined, allowedOrigins: [] })
    expect(guard.problem(from(usual))).toBeUndefined()
    expect(guard.problem(request)?.status).toBe(status)
    // A rejected request changes nothing.
    expect(guard.problem(from(usual))).toBeUndefined()
    expect(guard.problem(request)?.status).toBe(status)
  })
})

function twice(request: HttpRequest): HttpRequest {
  const origin = request.origin()
  return { ...request, origin: () => ({ ...origin, hosts: [...origin.hosts, 'evil.test'] }) }
}

function elsewhere(request: HttpRequest): HttpRequest {
  const origin = request.origin()
  return { ...request, origin: () => ({ ...origin, target: 'http://evil.test/mcp' }) }
}
