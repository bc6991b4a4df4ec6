import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { connectPages } from '../../src/auth/index.ts'
import { fetchHandler, nodeHandler } from '../../src/http/index.ts'
import type { RevisionName } from '../../src/index.ts'
import type { AuditRecord } from '../../src/observe/index.ts'
import { Router } from '../../src/router/router.ts'
import { Browser, connecting, linkOf, locationOf } from '../support/connecting.ts'
import { pollOptions } from '../support/poll-options.ts'

const revisions: readonly RevisionName[] = ['2025-11-25', '2026-07-28']

describe.each(revisions)('callers of %s', revision => {
  test.each([true, false])('grant access on a page, with a login: %s', async hasLogin => {
    await using here = await connecting({ hasLogin })
    const visited: string[] = []
    await using ada = await here.caller('ada', revision, async url => {
      visited.push(url)
      const page = await here.visit(url, 'ada')
      expect(page.status).toBe(200)
      expect(await page.text()).toContain('Connected')
      return 'accept'
    })
    const first = await ada.call('notes__list').catch(async error => {
      // In sessions the error names the page, and the client calls again.
      expect(error.code).toBe(-32042)
      const [{ url }] = error.data.elicitations
      visited.push(url)
      expect((await here.visit(url, 'ada')).status).toBe(200)
      return ada.call('notes__list')
    })
    expect(first.text).toBe('the notes of ada')
    expect(visited).toHaveLength(1)
    expect((await ada.call('notes__list')).text).toBe('the notes of ada')
    expect(here.errors).toEqual([])
  })
})

test.each(revisions)('in %s callers that cannot show a page get the words', async revision => {
  await using here = await connecting()
  await using ada = await here.caller('ada', revision)
  const { isError, text } = await ada.call('notes__list')
  expect(isError).toBe(true)
  expect(text).toMatch(/^Connect your account at "notes": .* http:\S+\/connect\/\S+$/)
  await expect(ada.prompt('notes__hello')).rejects.toMatchObject({
    kind: 'authorization_failed',
    message: expect.stringContaining('/connect/'),
  })
  expect(here.errors).toEqual([])
})

test('a user who declines is not asked again, and nothing reaches the server', async () => {
  await using here = await connecting()
  let count = 0
  await using ada = await here.caller('ada', '2026-07-28', async () => {
    count++
    return 'decline'
  })
  await expect(ada.call('notes__list')).rejects.toMatchObject({ kind: 'elicitation_failed' })
  expect(count).toBe(1)
  expect(await here.vault.list()).toEqual([])
})

test('a tool of no server leads to no page', async () => {
  await using here = await connecting()
  await using ada = await here.caller('ada', '2026-07-28')
  await expect(ada.call('other__tool')).rejects.toMatchObject({ kind: 'tool_not_found' })
})

describe.each(['nodeHandler', 'fetchHandler'] as const)('a router served by %s', handler => {
  test.each(revisions)('has the pages too, for callers of %s', async revision => {
    await using here = await connecting({ hasLogin: true, handler })
    await using ada = await here.caller('ada', revision)
    const link = linkOf((await ada.call('notes__list')).text)
    expect((await here.visit(link, 'bob')).status).toBe(403)
    const page = await here.visit(link, 'ada')
    expect(await page.text()).toContain('Connected')
    expect((await ada.call('notes__list')).text).toBe('the notes of ada')
    expect(here.errors).toEqual([])
  })

  test('needs to know the address of the pages, and whose browser visits them', async () => {
    const handlerOf = handler === 'nodeHandler' ? nodeHandler : fetchHandler
    await using router = new Router()
    const url = 'http://127.0.0.1:3000/connect'
    const login = { issuer: 'https://as.example.com', clientId: 'router-pages' }
    for (const options of [{}, { url }, { login }]) {
      const pages = connectPages(options)
      expect(() => handlerOf(router, { pages })).toThrow('the pages need "url" and "login"')
    }
    // The check: the object is invalid on purpose.
    const other = { url } as never
    expect(() => handlerOf(router, { pages: other })).toThrow('expected the result of connectPages')
  })
})

test('a browser that disconnects while it sends a form does not keep the listener open', async () => {
  await using here = await connecting()
  await using ada = await here.caller('ada', '2026-07-28')
  const link = new URL(linkOf((await ada.call('notes__list')).text))
  const socket = connectTcp(Number(link.port), link.hostname)
  const head = [
    `POST ${link.pathname} HTTP/1.1`,
    `host: ${link.host}`,
    'content-type: application/x-www-form-urlencoded',
    'content-length: 100',
    'expect: 100-continue',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  // The listener has begun to read the form.
  await once(socket, 'data')
  socket.write('csrf=')
  socket.destroy()
  await once(socket, 'close')
})

test('a session is notified once its own user has granted access', async () => {
  await using here = await connecting({ hasLogin: true })
  const shown = { elicit: { url: async () => ({ action: 'accept' }) as const } }
  const received: (readonly [user: string, method: string, params: unknown])[] = []
  const callerOf = (sub: string) =>
    here.caller(sub, '2025-11-25', undefined, {
      ...shown,
      onNotification: (method, params) => void received.push([sub, method, params]),
    })
  await using ada = await callerOf('ada')
  await using bob = await callerOf('bob')
  const pageFor = async (client: typeof ada) => {
    const error = await client.call('notes__list').catch(refusal => refusal)
    expect(error.code).toBe(-32042)
    return error.data.elicitations[0]
  }
  const [first, second] = [await pageFor(ada), await pageFor(bob)]
  expect((await here.visit(first.url, 'bob')).status).toBe(403)
  expect((await here.visit(first.url, 'ada')).status).toBe(200)
  const complete = 'notifications/elicitation/complete'
  const completed = () => received.filter(([, method]) => method === complete)
  const [ofAda, ofBob] = [{ elicitationId: first.elicitationId }, second.elicitationId]
  await vi.waitFor(() => expect(completed()).toEqual([['ada', complete, ofAda]]), pollOptions)
  expect((await ada.call('notes__list')).text).toBe('the notes of ada')
  expect((await here.visit(second.url, 'bob')).status).toBe(200)
  await vi.waitFor(() => expect(completed()).toHaveLength(2), pollOptions)
  expect(completed()[1]).toEqual(['bob', complete, { elicitationId: ofBob }])
  expect((await bob.call('notes__list')).text).toBe('the notes of bob')
})

test('the audit log has logins, grants and what was refused, without secrets', async () => {
  const records: AuditRecord[] = []
  const audit = { record: (record: AuditRecord) => void records.push(record) }
  await using here = await connecting({ hasLogin: true, audit })
  await using ada = await here.caller('ada', '2026-07-28')
  const link = linkOf((await ada.call('notes__list')).text)
  expect((await here.visit(link, 'bob')).status).toBe(403)
  expect((await here.visit(link, 'ada')).status).toBe(200)
  await ada.call('notes__list')
  const principal = `${here.front.issuer} ada`
  const login = { event: 'login', server: 'notes', principal }
  const [refused, accepted, grant] = records
  const reason = `the browser belongs to bob of ${here.front.issuer}`
  expect(refused).toEqual({ ...login, outcome: 'refused', reason })
  expect(accepted).toEqual({ ...login, outcome: 'accepted', reason: undefined })
  expect(grant).toEqual({
    event: 'grant',
    outcome: 'made',
    server: 'notes',
    address: here.upstream,
    principal,
    issuer: here.back.issuer,
    scope: 'notes:read offline_access',
    elicitationId: expect.any(String),
    reason: undefined,
  })
  expect(records.map(({ event }) => event)).toEqual(['login', 'login', 'grant', 'call'])
  const text = JSON.stringify(records)
  expect(text).not.toContain(link.split('/').at(-1))
  expect(text).not.toMatch(/eyJ/)
})

test('the audit log says why nothing was granted', async () => {
  const records: AuditRecord[] = []
  const audit = { record: (record: AuditRecord) => void records.push(record) }
  await using here = await connecting({ audit })
  await using ada = await here.caller('ada', '2026-07-28')
  const link = linkOf((await ada.call('notes__list')).text)
  const browser = new Browser()
  const page = await (await browser.open(link)).text()
  const at = locationOf(await browser.submit(link, page))
  const callback = new URL(at.searchParams.get('redirect_uri') ?? 'none:')
  const answer = { error: 'access_denied', state: at.searchParams.get('state') ?? '' }
  callback.search = new URLSearchParams({ ...answer, iss: here.back.issuer }).toString()
  expect((await browser.open(callback)).status).toBe(502)
  const failed = { event: 'grant', outcome: 'failed', reason: expect.stringContaining('refused') }
  expect(records.at(-1)).toMatchObject(failed)
})
