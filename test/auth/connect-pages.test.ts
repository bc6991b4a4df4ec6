import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Cookies } from '../../src/auth/connect/cookies.ts'
import { apiKeys, connectPages, fileStore, newApiKey } from '../../src/auth/index.ts'
import { listen, Server } from '../../src/index.ts'
import { limits } from '../../src/util/limits/limits.ts'
import { Browser, type Connecting, connecting, linkOf, locationOf } from '../support/connecting.ts'

afterEach(() => void vi.useRealTimers())

/** Calls as a user who cannot be shown a page, and returns the link in the answer. */
async function linkFor(here: Connecting, sub: string, tool = 'notes__list'): Promise<string> {
  await using client = await here.caller(sub, '2026-07-28')
  const answer = await client.call(tool)
  expect(answer.isError).toBe(true)
  return linkOf(answer.text)
}

/** Opens a link up to the page on which the user approves. */
async function consentOf(here: Connecting, link: string, sub: string, browser: Browser) {
  const login = await browser.open(link)
  const page = await browser.open(await here.front.browser(sub)(locationOf(login)))
  expect(page.status).toBe(200)
  return page.text()
}

describe('the browser', () => {
  test('must be that of the user for whom the link was made', async () => {
    await using here = await connecting({ hasLogin: true })
    const link = await linkFor(here, 'ada')
    const refused = await here.visit(link, 'bob')
    expect(refused.status).toBe(403)
    expect(await refused.text()).toContain('made for another user')
    expect(await here.vault.list()).toEqual([])
    // Nothing was used up: ada can still grant it.
    expect((await here.visit(link, 'ada')).status).toBe(200)
  })

  test('must be the one that has begun the login', async () => {
    await using here = await connecting({ hasLogin: true })
    const link = await linkFor(here, 'bob')
    const begun = await new Browser().open(link)
    const returned = await here.front.browser('bob')(locationOf(begun))
    // Bob has ada open the address that his own login leads to.
    const ada = new Browser()
    await ada.open(await linkFor(here, 'ada'))
    expect((await ada.open(returned)).status).toBe(403)
  })

  test('must be the one that has approved, and returns once', async () => {
    await using here = await connecting({ hasLogin: true })
    const link = await linkFor(here, 'ada')
    const browser = new Browser()
    const approve = async () => browser.submit(link, await consentOf(here, link, 'ada', browser))
    const back = await here.back.browser('ada')(locationOf(await approve()))
    expect((await new Browser().open(back)).status).toBe(403)
    // The state was used by the wrong browser.
    expect((await browser.open(back)).status).toBe(403)
    expect(await here.vault.list()).toEqual([])

    const next = await linkFor(here, 'ada')
    const page = await consentOf(here, next, 'ada', browser)
    const again = await here.back.browser('ada')(locationOf(await browser.submit(next, page)))
    expect((await browser.open(again)).status).toBe(200)
    expect((await browser.open(again)).status).toBe(403)
    expect(await here.vault.list()).toHaveLength(1)
    // The link was used too.
    expect((await browser.open(next)).status).toBe(410)
    expect((await browser.submit(next, page)).status).toBe(410)
  })
})

describe('the form', () => {
  test.each([
    ['without its value', (page: string) => page.replace(/name="csrf"/, 'name="none"'), {}],
    ['of another site', (page: string) => page, { origin: 'https://evil.example.com' }],
    ['that a cross-site page sends', (page: string) => page, { 'sec-fetch-site': 'cross-site' }],
    ['that a same-site page sends', (page: string) => page, { 'sec-fetch-site': 'same-site' }],
    ['without the cookie', (page: string) => page, { cookie: 'other=1' }],
  ])('%s is refused', async (_, change, headers) => {
    await using here = await connecting({ hasLogin: true })
    const link = await linkFor(here, 'ada')
    const browser = new Browser()
    const page = await consentOf(here, link, 'ada', browser)
    const refused = await browser.submit(link, change(page), { headers })
    expect(refused.status).toBe(403)
    expect(browser.cookies.has('trunkline-connect')).toBe(false)
    expect((await browser.submit(link, page)).status).toBe(303)
    expect(browser.cookies.has('trunkline-connect')).toBe(true)
  })

  test('of another link is refused, also in the same browser', async () => {
    await using here = await connecting({ hasLogin: true })
    const browser = new Browser()
    const own = await linkFor(here, 'ada')
    const page = await consentOf(here, own, 'ada', browser)
    const other = await linkFor(here, 'bob')
    expect((await browser.submit(other, page)).status).toBe(403)
  })

  test('that is too large is refused', async () => {
    await using here = await connecting()
    const link = await linkFor(here, 'ada')
    const body = new URLSearchParams({ csrf: 'x'.repeat(limits.connectFormBytes.default) })
    const refused = await new Browser().open(link, { method: 'POST', body })
    expect(refused.status).toBe(413)
  })
})

describe('a link', () => {
  test('names the server, its authorization server, the scopes and the user', async () => {
    await using here = await connecting()
    const page = await (await new Browser().open(await linkFor(here, 'ada'))).text()
    for (const text of ['notes', new URL(here.back.issuer).host, 'notes:read', 'ada'])
      expect(page).toContain(text)
  })

  test('expires', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    await using here = await connecting()
    const link = await linkFor(here, 'ada')
    vi.setSystemTime(Date.now() + limits.ticketMs.default)
    const late = await new Browser().open(link)
    expect(late.status).toBe(410)
    expect(await late.text()).toContain('expired')
  })

  test('that was changed leads nowhere', async () => {
    await using here = await connecting()
    const link = await linkFor(here, 'ada')
    const changed = link.replace(/.$/, last => (last === 'A' ? 'B' : 'A'))
    expect((await new Browser().open(changed)).status).toBe(404)
    expect((await new Browser().open(new URL('/connect/callback?state=x', link))).status).toBe(403)
    expect((await new Browser().open(new URL('/connect/login?state=x', link))).status).toBe(403)
    expect((await new Browser().open(link, { method: 'DELETE' })).status).toBe(405)
  })

  test('is not served under another name of this machine', async () => {
    await using here = await connecting()
    const { hostname, port, pathname } = new URL(await linkFor(here, 'ada'))
    const headers = { host: 'rebound.example.com' }
    const request = get({ hostname, port, path: pathname, headers })
    const [response]: IncomingMessage[] = await once(request, 'response')
    response?.resume()
    expect(response?.statusCode).toBe(403)
  })
})

test('no page can be framed, stored or tracked, and none loads anything', async () => {
  await using here = await connecting({ hasLogin: true })
  const link = await linkFor(here, 'ada')
  const browser = new Browser()
  const login = await browser.open(link)
  const consent = await browser.open(await here.front.browser('ada')(locationOf(login)))
  const approved = await browser.submit(link, await consent.text())
  const connected = await browser.open(await here.back.browser('ada')(locationOf(approved)))
  const missing = await browser.open(`${link}x`)
  for (const { headers } of [login, consent, approved, connected, missing]) {
    const policy = headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  }
})

test('over https the cookies can be set by this host alone', () => {
  const secure = new Cookies(new URL('https://tools.example.com/connect'))
  expect(secure.set('connect', 'abc', 1000)).toEqual({
    'set-cookie': '__Host-trunkline-connect=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=1; Secure',
  })
  const twice = '__Host-trunkline-connect=a; __Host-trunkline-connect=b'
  expect(secure.read(twice, 'connect')).toBeUndefined()
})

test('pages that could not know whose browser it is are not served', async () => {
  const server = new Server({ name: 'x', version: '1' })
  const url = 'https://tools.example.com/connect'
  const remote = listen(server, 'http://127.0.0.1:0/mcp', { pages: connectPages({ url }) })
  await expect(remote).rejects.toThrow('they need "login"')
  const { record } = await newApiKey('ada')
  const verify = apiKeys({ keys: [record] })
  const keys = listen(server, 'http://127.0.0.1:0/mcp', { auth: { verify }, pages: connectPages() })
  await expect(keys).rejects.toThrow('callers with API keys cannot')
})

test('two users never share a grant', async () => {
  await using here = await connecting({ hasLogin: true })
  expect((await here.visit(await linkFor(here, 'ada'), 'ada')).status).toBe(200)
  await using ada = await here.caller('ada', '2026-07-28')
  await using bob = await here.caller('bob', '2026-07-28')
  expect((await ada.call('notes__list')).text).toBe('the notes of ada')
  const answer = await bob.call('notes__list')
  expect(answer.isError).toBe(true)
  expect((await here.visit(linkOf(answer.text), 'bob')).status).toBe(200)
  expect((await bob.call('notes__list')).text).toBe('the notes of bob')
  expect((await ada.call('notes__list')).text).toBe('the notes of ada')
  const grants = await here.vault.list()
  expect(grants.map(({ principal }) => principal)).toEqual([
    `${here.front.issuer} ada`,
    `${here.front.issuer} bob`,
  ])
})

test('a tool that needs more scopes asks for another grant', async () => {
  await using here = await connecting()
  expect((await here.visit(await linkFor(here, 'ada'), 'ada')).status).toBe(200)
  const more = await linkFor(here, 'ada', 'notes__purge')
  expect(await (await new Browser().open(more)).text()).toContain('notes:write')
  expect((await here.visit(more, 'ada')).status).toBe(200)
  await using ada = await here.caller('ada', '2026-07-28')
  expect((await ada.call('notes__purge')).text).toBe('purged')
})

test('grants in a folder survive a restart, and nobody reads them without the keys', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'trunkline-vault-')), 'vault')
  onTestFinished(() => rmSync(join(folder, '..'), { recursive: true, force: true }))
  const keys = [crypto.getRandomValues(new Uint8Array(32))]
  await using here = await connecting({ store: fileStore(folder), keys })
  expect((await here.visit(await linkFor(here, 'ada'), 'ada')).status).toBe(200)
  const text = readdirSync(folder)
    .map(name => readFileSync(join(folder, name), 'utf8'))
    .join()
  expect(text).not.toMatch(/access_?token|eyJ/i)
  await here.restart({ store: fileStore(folder), keys })
  await using ada = await here.caller('ada', '2026-07-28')
  expect((await ada.call('notes__list')).text).toBe('the notes of ada')
  // With other keys the grants are unreadable, and users are asked again.
  await here.restart({ store: fileStore(folder), keys: [new Uint8Array(32).fill(1)] })
  await linkFor(here, 'ada')
})
