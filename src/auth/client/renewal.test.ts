import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  authorizationServer,
  authorizedRequest,
} from '../../../test/support/authorization-server.ts'
import { pollOptions } from '../../../test/support/poll-options.ts'
import { limits } from '../../util/limits/limits.ts'
import { oauth } from './oauth.ts'
import type { OAuthOptions } from './options.ts'
import { StepUpBudget } from './step-up.ts'
import { memoryStore } from './store/memory-store.ts'

let as: Awaited<ReturnType<typeof authorizationServer>>
beforeEach(async () => {
  as = await authorizationServer()
})
afterEach(async () => {
  vi.useRealTimers()
  await as.close()
})

const redirect = 'http://127.0.0.1:9/callback'
const user = (options: OAuthOptions = {}) => oauth({ redirect, open: as.open, ...options })
const hundred = Array.from({ length: 100 })
const refreshes = () => as.at('/token').filter(({ form }) => form.has('refresh_token'))

describe('a token that has expired', () => {
  test('is renewed once for all requests at the same time', async () => {
    const credentials = user()
    await authorizedRequest(credentials, as.url)
    as.expire()
    const all = hundred.map(() => authorizedRequest(credentials, as.url))
    expect(new Set(await Promise.all(all))).toEqual(new Set([200]))
    expect(refreshes()).toHaveLength(1)
    expect(as.at('/authorize')).toHaveLength(1)
  })

  test('is renewed ahead of its expiry, and nobody is asked', async () => {
    const credentials = user()
    await authorizedRequest(credentials, as.url)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_550_000 })
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    expect(refreshes()).toHaveLength(1)
    expect(as.at('/mcp').at(-1)?.headers.authorization).toBe('Bearer access-2')
  })

  test('is renewed also if it expires on its way to the server, right after the login', async () => {
    as.issueFor(1)
    const guard = as.routes.get('/mcp')
    as.routes.set('/mcp', request => {
      if (request.headers.authorization === 'Bearer access-1') {
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1000 })
        as.expire()
      }
      return guard?.(request) ?? {}
    })
    expect(await authorizedRequest(user(), as.url)).toBe(200)
    expect([refreshes().length, as.at('/authorize').length]).toEqual([1, 1])
  })

  test('fails the request if the server refuses the renewed one too', async () => {
    as.issueFor(1)
    as.routes.set('/mcp', () => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1000 })
      return { status: 401, headers: { 'www-authenticate': as.challenge.value } }
    })
    await expect(authorizedRequest(user(), as.url)).rejects.toMatchObject({ code: 'denied' })
    expect(as.at('/authorize')).toHaveLength(1)
  })

  test('keeps its refresh token and its scopes if the answer names none', async () => {
    as.challenge.value += ', scope="read"'
    const store = memoryStore()
    const credentials = user({ store })
    await authorizedRequest(credentials, as.url)
    const bare = { access_token: 'bare', token_type: 'Bearer' }
    as.routes.set('/token', () => ({ body: bare }))
    as.routes.set('/mcp', ({ headers }) => ({
      status: headers.authorization === 'Bearer bare' ? 200 : 401,
    }))
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    const keys = (await store.keys?.()) ?? []
    const record = await store.get(keys.find(key => key.startsWith('tokens ')) ?? '')
    expect(JSON.parse(record ?? '')).toMatchObject({ refreshToken: 'refresh-1', scopes: ['read'] })
  })

  test.each([
    ['answers 500', { status: 500 }],
    ['answers 429', { status: 429 }],
    ['has a temporary failure', { status: 400, body: { error: 'temporarily_unavailable' } }],
  ])('survives an authorization server that %s', async (_, answer) => {
    const credentials = user()
    await authorizedRequest(credentials, as.url)
    const token = as.routes.get('/token')
    as.routes.set('/token', () => answer)
    as.expire()
    await expect(authorizedRequest(credentials, as.url)).rejects.toMatchObject({
      code: 'unreachable',
    })
    as.routes.set('/token', token ?? (() => ({})))
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    expect(as.at('/authorize')).toHaveLength(1)
  })

  test('is used on while it is good, although it cannot be renewed', async () => {
    const credentials = user()
    await authorizedRequest(credentials, as.url)
    as.routes.set('/token', () => ({ status: 503 }))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_550_000 })
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    expect(refreshes()).toHaveLength(1)
  })

  test('leads to one login if its authorization has ended', async () => {
    const credentials = user()
    await authorizedRequest(credentials, as.url)
    as.expire()
    const issue = as.routes.get('/token') ?? (() => ({}))
    as.routes.set('/token', request =>
      request.form.has('refresh_token')
        ? { status: 400, body: { error: 'invalid_grant' } }
        : issue(request),
    )
    const all = hundred.map(() => authorizedRequest(credentials, as.url))
    expect(new Set(await Promise.all(all))).toEqual(new Set([200]))
    expect(refreshes()).toHaveLength(1)
    expect(as.at('/authorize')).toHaveLength(2)
  })

  test('is not renewed if another program has done so', async () => {
    const store = memoryStore()
    const [one, other] = [user({ store }), user({ store })]
    await authorizedRequest(one, as.url)
    await authorizedRequest(other, as.url)
    as.expire()
    await authorizedRequest(one, as.url)
    expect(await authorizedRequest(other, as.url)).toBe(200)
    expect(refreshes()).toHaveLength(1)
    expect(as.at('/authorize')).toHaveLength(1)
  })

  test('that the server refuses again right away is not asked for forever', async () => {
    as.routes.set('/mcp', () => ({ status: 401 }))
    await expect(authorizedRequest(user(), as.url)).rejects.toMatchObject({ code: 'denied' })
    expect(as.at('/authorize')).toHaveLength(1)
  })
})

describe('a login', () => {
  test('is one for all requests at the same time', async () => {
    const credentials = user()
    const all = hundred.map(() => authorizedRequest(credentials, as.url))
    expect(new Set(await Promise.all(all))).toEqual(new Set([200]))
    expect(as.at('/authorize')).toHaveLength(1)
    expect(as.at('/token')).toHaveLength(1)
  })

  test('goes on for the others if one gives up, and ends with the last', async () => {
    const pages: AbortSignal[] = []
    const controllers = [new AbortController(), new AbortController()]
    const credentials = user({ open: (_, signal) => void pages.push(signal) })
    const requests = controllers.map(({ signal }) => authorizedRequest(credentials, as.url, signal))
    const outcomes = Promise.allSettled(requests)
    await vi.waitFor(() => expect(pages).toHaveLength(1), pollOptions)
    await vi.waitFor(() => expect(as.at('/mcp')).toHaveLength(2), pollOptions)
    controllers[0]?.abort(new Error('first'))
    await expect(requests[0]).rejects.toThrow('first')
    expect(pages[0]?.aborted).toBe(false)
    controllers[1]?.abort(new Error('last'))
    await outcomes
    await vi.waitFor(() => expect(pages[0]?.aborted).toBe(true), pollOptions)
  })

  test('of a program that ended is used by the next one', async () => {
    const store = memoryStore()
    await authorizedRequest(user({ store }), as.url)
    expect(await authorizedRequest(oauth({ store }), as.url)).toBe(200)
    expect(as.at('/mcp').at(-1)?.headers.authorization).toBe('Bearer access-1')
  })

  test('of another client or issuer is not used', async () => {
    const store = memoryStore()
    await authorizedRequest(user({ store }), as.url)
    const other = oauth({ store, clientId: 'other' })
    await expect(authorizedRequest(other, as.url)).rejects.toMatchObject({ code: 'login-required' })
    expect(as.at('/mcp').at(-1)?.headers.authorization).toBeUndefined()
  })
})

describe('a request for more scopes', () => {
  const logIn = async (options: OAuthOptions = {}) => {
    as.challenge.value += ', scope="read"'
    const credentials = user(options)
    await authorizedRequest(credentials, as.url)
    return credentials
  }

  test('asks the user for all scopes together, and never renews', async () => {
    const credentials = await logIn()
    as.require('write')
    expect(await authorizedRequest(credentials, as.url)).toBe(200)
    expect(as.at('/authorize').map(({ query }) => query.get('scope'))).toEqual([
      'read',
      'read write',
    ])
    expect(refreshes()).toEqual([])
  })

  test('fails at once if they were granted already', async () => {
    const credentials = await logIn()
    as.require('write')
    as.routes.set('/token', () => ({
      body: { access_token: 'access-1', token_type: 'Bearer', scope: 'read write' },
    }))
    await expect(authorizedRequest(credentials, as.url)).rejects.toMatchObject({
      code: 'step-up-limit',
      scopes: ['write'],
    })
    expect(as.at('/authorize')).toHaveLength(2)
  })

  test('is not repeated for ever, although the scopes are never granted', async () => {
    const credentials = await logIn()
    as.require('write')
    as.routes.set('/token', () => ({
      body: { access_token: 'access-1', token_type: 'Bearer', scope: 'read' },
    }))
    for (let calls = 0; calls < 5; calls++) {
      await expect(authorizedRequest(credentials, as.url)).rejects.toMatchObject({
        code: 'step-up-limit',
      })
    }
    expect(as.at('/authorize')).toHaveLength(1 + limits.stepUps.default)
  })

  test('fails with option "stepUp" as "fail", and for scopes that are not allowed', async () => {
    const failing = await logIn({ stepUp: 'fail' })
    as.require('write')
    await expect(authorizedRequest(failing, as.url)).rejects.toMatchObject({
      code: 'step-up-limit',
    })
    as.require(undefined)
    const limited = await logIn({ scopesAllowed: ['read'] })
    as.require('write')
    await expect(authorizedRequest(limited, as.url)).rejects.toMatchObject({
      code: 'step-up-limit',
    })
    expect(as.at('/authorize')).toHaveLength(2)
  })

  test('without a challenge is a refusal that stands', async () => {
    const credentials = await logIn()
    as.routes.set('/mcp', () => ({ status: 403 }))
    expect(await authorizedRequest(credentials, as.url)).toBe(403)
    expect(as.at('/authorize')).toHaveLength(1)
  })
})

test('the budget of step-ups is per operation, and forgets the oldest operation', () => {
  const budget = new StepUpBudget()
  const take = (name: string) => budget.take(name)
  expect([take('a'), take('a'), take('a'), take('b')]).toEqual([true, true, false, true])
  for (let at = 0; at < limits.stepUpOperations.default; at++) take(`operation ${at}`)
  expect(take('a')).toBe(true)
})
