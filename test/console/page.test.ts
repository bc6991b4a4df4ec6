import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { engineProgram } from '../../scripts/engines.js'
import { connect } from '../../src/connect.ts'
import { demoServer, serveConsole } from './setup.ts'

const program = process.env.CHROMIUM ?? engineProgram('chromium')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const pages = ['', 'traffic', 'servers', 'servers/broken', 'tools', 'logs', 'config', 'connect']
/** `npm run console:test` looks at every page in both themes and two widths, and keeps pictures. */
const isWhole = process.env.CONSOLE_TEST === 'all'
const looks = isWhole
  ? (['light', 'dark'] as const).flatMap(theme =>
      [800, 1280, 1920].map(width => ({ theme, width })),
    )
  : [{ theme: 'light' as const, width: 1280 }]
const artefacts = join(import.meta.dirname, '../../artefacts/console')

describe.skipIf(program === undefined)('the page in a browser', () => {
  let browser: Browser
  let served: Awaited<ReturnType<typeof serveConsole>>
  const contexts: BrowserContext[] = []
  /** Whatever no page may cause: errors, violations of the policy, requests to other origins. */
  const complaints: string[] = []

  beforeAll(async () => {
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ executablePath: program ?? '', args })
    const fails = "console.error('API_KEY is not set'); process.exit(1)"
    served = await serveConsole(
      {},
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
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map(each => each.close()))
    expect(complaints.splice(0)).toEqual([])
  })

  async function open(
    to = '',
    { theme = 'light', width = 1280 }: { theme?: 'light' | 'dark'; width?: number } = {},
  ): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width, height: 860 },
      colorScheme: theme,
      reducedMotion: 'reduce',
    })
    contexts.push(context)
    const page = await context.newPage()
    page.on('console', message => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    page.on('pageerror', error => complaints.push(error.message))
    page.on('request', request => {
      const isOwn = request.url().startsWith(served.base) || request.url().startsWith('data:')
      if (!isOwn) complaints.push(`requested ${request.url()}`)
    })
    await page.goto(served.link)
    await page.locator('.attention, .well').waitFor()
    if (to !== '') await page.goto(`${served.base}#/${to}`)
    return page
  }

  async function violations(page: Page): Promise<readonly string[]> {
    await page.evaluate(axe)
    const found = await page.evaluate(async () => {
      // The check: the script before has defined it.
      const { axe: judge } = globalThis as unknown as {
        axe: { run(options: object): Promise<{ violations: readonly Violation[] }> }
      }
      const tags = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']
      return (await judge.run({ runOnly: tags })).violations
    })
    return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n')}`)
  }

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

  it('gives the reason for every tool that callers do not see', async () => {
    const page = await open('tools')
    await page.getByRole('row', { name: /secret.*denied by tools\.deny/ }).waitFor()
    await page.getByRole('link', { name: 'demo__echo' }).click()
    const panel = page.getByRole('complementary', { name: 'Tool' })
    await panel.getByText('Returns its text.').first().waitFor()
  })

  it('asks for the link when the key is no longer valid', async () => {
    const page = await open()
    served.page.renewKey()
    await page.getByText('no longer valid').waitFor()
    // The refused request is reported by the browser.
    complaints.length = 0
    await page.getByLabel('Link').fill(served.page.link(served.address))
    await page.getByRole('button', { name: 'Open' }).click()
    await page.locator('.attention').waitFor()
    served = { ...served, link: served.page.link(served.address) }
  })

  it.each(looks)('is accessible and fits at $width px, $theme', async look => {
    const page = await open('', look)
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
  })
})

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}
