import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { engineProgram } from '../../scripts/engines.js'

const program = process.env.CHROMIUM ?? engineProgram('chromium')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Whether there is a browser to test with. */
export const hasBrowser = program !== undefined

/** How a page is looked at. */
export interface Look {
  readonly theme?: 'light' | 'dark'
  readonly width?: number
}

/** A browser whose pages are watched for what no page may cause. */
export class TestBrowser {
  readonly #browser: Browser
  readonly #contexts: BrowserContext[] = []
  /** Errors, violations of the policy, requests to other origins. */
  readonly complaints: string[] = []

  private constructor(browser: Browser) {
    this.#browser = browser
  }

  static async launch(): Promise<TestBrowser> {
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    return new TestBrowser(await chromium.launch({ executablePath: program ?? '', args }))
  }

  /** Opens the console by its link, and then a page of it. */
  async open(served: { readonly base: string; readonly link: string }, to = '', look: Look = {}) {
    const { theme = 'light', width = 1280 } = look
    const context = await this.#browser.newContext({
      viewport: { width, height: 860 },
      colorScheme: theme,
      reducedMotion: 'reduce',
    })
    this.#contexts.push(context)
    const page = await context.newPage()
    page.on('console', message => {
      if (message.type() === 'error') this.complaints.push(message.text())
    })
    page.on('pageerror', error => this.complaints.push(error.message))
    page.on('request', request => {
      const isOwn = [served.base, 'data:', 'blob:'].some(start => request.url().startsWith(start))
      if (!isOwn) this.complaints.push(`requested ${request.url()}`)
    })
    await page.goto(served.link)
    await page.locator('.attention, .well').waitFor()
    if (to !== '') await page.goto(`${served.base}#/${to}`)
    return page
  }

  /** Closes the pages of one test, and expects that none of them did what no page may do. */
  async endTest(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map(each => each.close()))
    expect(this.complaints.splice(0)).toEqual([])
  }

  async close(): Promise<void> {
    await this.#browser.close()
  }
}

/** Returns what axe finds wrong with a page. */
export async function violations(page: Page): Promise<readonly string[]> {
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

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}
