import { describe, expect, test } from 'vitest'
import { httpRequest } from '../../../test/support/http.ts'
import { corsHeaders, preflightHeaders } from './cors.ts'

const page = { origin: 'https://app.example' }

describe('a page', () => {
  test('may read its response, and the headers it needs', () => {
    const headers = corsHeaders(httpRequest({ headers: page }))
    expect(headers['access-control-allow-origin']).toBe(page.origin)
    expect(headers['access-control-expose-headers']).toContain('mcp-session-id')
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
  })

  test('gets the headers it may send: mirrored ones under any name', () => {
    const asked = {
      ...page,
      'access-control-request-headers': 'Mcp-Param-Region, x-evil, mcp-param-',
    }
    const headers = preflightHeaders(httpRequest({ headers: asked }), { allowedHeaders: ['x-own'] })
    const allowed = headers['access-control-allow-headers']?.split(', ')
    expect(allowed).toContain('mcp-param-region')
    expect(allowed).toContain('x-own')
    expect(allowed).not.toContain('x-evil')
    expect(allowed).not.toContain('mcp-param-')
  })

  test('may cache the preflight response for a while', () => {
    expect(preflightHeaders(httpRequest(), { maxAgeSeconds: 5 })).toMatchObject({
      'access-control-max-age': '5',
    })
  })
})

test('a client that is not a page gets no CORS headers', () => {
  expect(corsHeaders(httpRequest())).toEqual({})
})
