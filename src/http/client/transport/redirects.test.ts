import { describe, expect, test } from 'vitest'
import { bare, DrivenChannel, json, reply, settle } from '../../../../test/support/fake-fetch.ts'
import { fakeClock } from '../../../testing/fake-clock.ts'
import { limits } from '../../../util/limits/limits.ts'
import { toHttpResponse } from './fetch-client.ts'
import { mediaType } from './http-client.ts'

describe('a redirect', () => {
  test.each([307, 308])('with %i to the same origin is followed with everything', async status => {
    const driven = new DrivenChannel((received, count) =>
      count === 1 ? bare(status, { location: '/other?x=1' }) : reply(received),
    )
    driven.request(1, 'ping')
    await driven.ended()
    expect(driven.arrivals).toHaveLength(1)
    expect(driven.received[1]).toMatchObject({
      method: 'POST',
      url: 'http://localhost:1/other?x=1',
      body: { id: 1 },
    })
  })

  test.each([
    ['another host', 'http://evil.test/mcp'],
    ['another port', 'http://localhost:2/mcp'],
    ['another scheme', 'https://localhost:1/mcp'],
    ['a password', 'http://me:secret@localhost:1/mcp'],
    ['something else', 'javascript:alert(1)'],
  ])('to %s is rejected, and nothing is sent there', async (_, location) => {
    for (const status of [301, 302, 303, 307, 308]) {
      const driven = new DrivenChannel(() => bare(status, { location }), {
        headers: { authorization: 'x' },
      })
      driven.request(1, 'ping')
      await driven.ended()
      expect(driven.failures).toMatchObject([{ error: { code: 'refused' } }])
      expect(driven.received).toHaveLength(1)
    }
  })

  test.each([
    [301, '/other'],
    [302, '/other'],
    [303, '/other'],
    [307, 'http://['],
    [307, undefined],
  ])('with %i to %s is not followed', async (status, location) => {
    const driven = new DrivenChannel(() => bare(status, location === undefined ? {} : { location }))
    driven.request(1, 'ping')
    await driven.ended()
    expect(driven.failures[0]?.error.message).toContain('redirected')
    expect(driven.received).toHaveLength(1)
  })

  test('is followed up to the limit', async () => {
    const driven = new DrivenChannel(() => bare(307, { location: '/mcp' }))
    driven.request(1, 'ping')
    await driven.ended()
    expect(driven.failures[0]?.error.message).toContain('too many times')
    expect(driven.received).toHaveLength(limits.httpRedirects.default + 1)
  })
})

describe('a time limit', () => {
  test('applies to a notification', async () => {
    const clock = fakeClock()
    const driven = new DrivenChannel(() => new Promise(() => {}), { clock })
    driven.notify('notifications/progress')
    await settle()
    clock.advance(limits.httpAcceptMs.default)
    await driven.until(({ errors }) => errors.length === 1)
    expect(driven.errors[0]).toMatchObject({ code: 'timeout' })
    expect(driven.received[0]?.signal.aborted).toBe(true)
  })

  test('applies to a body', async () => {
    const clock = fakeClock()
    const driven = new DrivenChannel(
      ({ signal }) => {
        const body = new ReadableStream({
          start: controller => {
            signal.addEventListener('abort', () => controller.error(signal.reason))
          },
        })
        return new Response(body, { headers: { 'content-type': 'application/json' } })
      },
      { clock },
    )
    driven.request(1, 'ping')
    await settle()
    clock.advance(limits.httpBodyMs.default)
    await driven.ended()
    expect(driven.failures).toMatchObject([{ error: { code: 'timeout' } }])
  })

  test('does not apply to a reply: its caller has a timeout of its own', async () => {
    const clock = fakeClock()
    const driven = new DrivenChannel(() => new Promise(() => {}), { clock })
    driven.request(1, 'tools/call')
    await settle()
    clock.advance(limits.callTotalMs.default)
    await settle()
    expect(driven.failures).toEqual([])
  })
})

test('media types are compared without parameters and case', () => {
  const typed = json({}, 200, { 'content-type': 'Application/JSON ; charset=utf-8' })
  expect(mediaType(toHttpResponse(typed))).toBe('application/json')
  expect(mediaType(toHttpResponse(bare(200)))).toBe('')
})
