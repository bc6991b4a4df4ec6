import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { connect } from '../../src/connect.ts'
import type { CheckStepRow } from '../../src/console/wire.ts'
import { addClusterNode } from '../../src/observe/cluster/nodes.ts'
import { hasBrowser, type Look, TestBrowser, violations } from './browser.ts'
import { demoServer, serveConsole } from './setup.ts'

const pages = [
  ...['', 'traffic', 'servers', 'servers/broken', 'tools', 'sessions', 'nodes', 'check'],
  ...['check/demo', 'logs', 'config', 'connect'],
]
/** `npm run console:test` looks at every page in both themes and two widths, and keeps pictures. */
const isWhole = process.env.CONSOLE_TEST === 'all'
const looks = isWhole
  ? (['light', 'dark'] as const).flatMap(theme =>
      [800, 1280, 1920].map(width => ({ theme, width })),
    )
  : [{ theme: 'light' as const, width: 1280 }]
const artefacts = join(import.meta.dirname, '../../artefacts/console')

describe.skipIf(!hasBrowser)('the page in a browser', () => {
  let browser: TestBrowser
  let served: Awaited<ReturnType<typeof serveConsole>>
  const open = (to?: string, look?: Look) => browser.open(served, to, look)

  beforeAll(async () => {
    browser = await TestBrowser.launch()
    const fails = "console.error('API_KEY is not set'); process.exit(1)"
    const check = {
      targets: () => ['router', 'demo'],
      run: async (_: string, __: AbortSignal, onStep: (step: CheckStepRow) => void) => {
        onStep({
          step: 'lists',
          question: 'Can every list be read to its last page?',
          status: 'warn',
          findings: [
            { status: 'ok', message: 'tools/list: 3 entries' },
            { status: 'warn', message: 'it accepts any cursor', advice: 'Reject unknown cursors.' },
          ],
        })
      },
    }
    served = await serveConsole(
      { check },
      {
        servers: {
          demo: { server: demoServer(), tools: { deny: ['secret'] } },
          broken: {
            command: process.execPath,
            args: ['-e', fails],
            restart: { maxRestarts: 1, minMs: 1 },
          },
        },
      },
    )
  })
  afterAll(async () => {
    await browser?.close()
    await served?.close()
  })
  afterEach(() => browser.endTest())

  it('opens by the link, which leaves no key in the address', async () => {
    const page = await open()
    expect(page.url()).toBe(`${served.base}#/`)
    await page.reload()
    await page.locator('.attention').waitFor()
  })

  it('says what is wrong, in the words of the server, and what to press', async () => {
    const page = await open()
    const item = page.locator('.attention li', { hasText: 'broken' })
    await item.getByText('API_KEY is not set').waitFor()
    await item.getByRole('button', { name: 'Retry broken' }).click()
    await page.getByText('broken is tried again').waitFor()
    await item.getByRole('link', { name: 'Log of broken' }).click()
    await page.locator('pre', { hasText: 'API_KEY is not set' }).waitFor()
  })

  it('shows a call as it happens, and its address shows it again', async () => {
    const page = await open('traffic')
    await page.getByText('Calls appear here').waitFor()
    const client = await connect(served.address, { name: 'tester', version: '2' })
    await client.call('demo__fail', { text: 'x' })
    const row = page.locator('[data-row]', { hasText: 'demo__fail' })
    await row.waitFor()
    await row.click()
    await page.getByRole('complementary', { name: 'Call' }).getByText('tester 2').waitFor()
    await page.getByRole('searchbox').fill('is:failed')
    await page.waitForURL(/q=is%3Afailed/)
    await page.reload()
    await page.locator('[data-row]', { hasText: 'demo__fail' }).waitFor()
    await page.keyboard.press('p')
    await page.getByRole('button', { name: 'Continue' }).waitFor()
    await client.close()
  })

  it('records a call on demand, without secrets, and repeats it in the playground', async () => {
    const page = await open('traffic')
    await page.getByRole('button', { name: 'Record' }).click()
    await page.getByText('recording calls until').waitFor()
    const client = await connect(served.address, { name: 'tester', version: '2' })
    await client.call('demo__echo', { text: 'bread', api_key: 'sk-canary-4' })
    await page.locator('[data-row]', { hasText: 'demo__echo' }).first().click()
    const panel = page.getByRole('complementary', { name: 'Call' })
    await panel.getByText('bread').first().waitFor()
    await panel.getByText('1 value redacted').waitFor()
    expect(await panel.getByText('sk-canary-4').count()).toBe(0)
    expect(await violations(page)).toEqual([])
    await page.getByRole('button', { name: 'Record' }).click()
    await page.getByText('recording calls until').waitFor({ state: 'detached' })
    await panel.getByRole('link', { name: 'To playground' }).click()
    await expect.poll(() => page.getByLabel('text').inputValue()).toBe('bread')
    await client.close()
  })

  it('gives the reason for every tool that callers do not see', async () => {
    const page = await open('tools')
    await page.getByRole('row', { name: /secret.*denied by tools\.deny/ }).waitFor()
    await page.getByRole('link', { name: 'demo__echo' }).click()
    const panel = page.getByRole('complementary', { name: 'Tool' })
    await panel.getByText('Returns its text.').first().waitFor()
  })

  it('shows who is connected, and ends a session by two presses', async () => {
    const page = await open('sessions')
    const client = await connect(served.address, { name: 'caller', version: '3', era: 'session' })
    const row = page.getByRole('row', { name: /caller 3/ })
    await row.getByText('http', { exact: true }).waitFor()
    await row.getByRole('button', { name: 'End the session of caller' }).click()
    await row.getByRole('button', { name: 'Really end? the session of caller' }).click()
    await page.getByText('The session has ended').waitFor()
    await row.waitFor({ state: 'detached' })
    await client.close()
  })

  it('shows the nodes of the cluster, and that the engine is away', async () => {
    const page = await open('nodes')
    await page.getByText('not part of a cluster').waitFor()
    const peer = {
      name: 'web-2',
      address: 'tcp://10.0.0.6:4100',
      path: '/mcp',
      version: '1.2.3',
      state: 'draining' as const,
      startedAt: new Date().toISOString(),
    }
    const leave = addClusterNode({
      status: () => ({
        ...peer,
        name: 'web-1',
        address: 'tcp://10.0.0.5:4100',
        state: 'up',
        engine: 'redis://10.0.0.9:6379',
        isEngineUp: false,
        mayAct: true,
        leaseLeftMs: 9000,
        sessions: 12,
        unsavedSessions: 3,
        forwarding: 1,
        peers: [peer],
      }),
    })
    await page.getByRole('row', { name: /web-1 this process up/ }).waitFor()
    await page.getByRole('row', { name: /web-2 draining/ }).waitFor()
    await page.getByText('The engine cannot be reached').waitFor()
    expect(await violations(page)).toEqual([])
    leave()
    await page.getByText('not part of a cluster').waitFor()
  })

  it('checks a server, with advice', async () => {
    const page = await open('check')
    await page.getByRole('button', { name: 'Check demo' }).click()
    await page.getByRole('row', { name: /demo/ }).getByText('passed').waitFor()
    await page.getByRole('link', { name: 'demo' }).click()
    await page.getByText('Reject unknown cursors.').waitFor()
    await page.getByRole('button', { name: 'Copy as issue' }).waitFor()
  })

  it('asks for the link when the key is no longer valid', async () => {
    const page = await open()
    served.page.renewKey()
    await page.getByText('no longer valid').waitFor()
    // The refused request is reported by the browser.
    browser.complaints.length = 0
    await page.getByLabel('Link').fill(served.page.link(served.address))
    await page.getByRole('button', { name: 'Open' }).click()
    await page.locator('.attention').waitFor()
    served = { ...served, link: served.page.link(served.address) }
  })

  it.each(looks)('is accessible and fits at $width px, $theme', async look => {
    const page = await open('', look)
    const client = await connect(served.address, { name: 'caller', version: '3', era: 'session' })
    for (const path of pages) {
      await page.goto(`${served.base}#/${path}`)
      await page.locator('main h1').first().waitFor({ state: 'attached' })
      expect([path, await violations(page)]).toEqual([path, []])
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect([path, overflow]).toEqual([path, 0])
      if (!isWhole) continue
      mkdirSync(artefacts, { recursive: true })
      const name = path === '' ? 'overview' : path.replaceAll('/', '-')
      await page.screenshot({ path: join(artefacts, `${name}-${look.width}-${look.theme}.png`) })
    }
    await client.close()
  })
})
