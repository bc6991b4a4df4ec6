import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { connect } from '../../src/connect.ts'
import { hasBrowser, TestBrowser, violations } from './browser.ts'
import { playServer } from './play-server.ts'
import { serveConsole } from './setup.ts'

const isWhole = process.env.CONSOLE_TEST === 'all'
const looks = isWhole
  ? (['light', 'dark'] as const).flatMap(theme =>
      [800, 1280, 1920].map(width => ({ theme, width })),
    )
  : [{ theme: 'dark' as const, width: 800 }]
const artefacts = join(import.meta.dirname, '../../artefacts/console')

describe.skipIf(!hasBrowser)('the playground in a browser', () => {
  let browser: TestBrowser
  let served: Awaited<ReturnType<typeof serveConsole>>
  beforeAll(async () => {
    browser = await TestBrowser.launch()
    served = await serveConsole({}, { servers: { demo: { server: playServer() } } })
  })
  afterAll(async () => {
    await browser?.close()
    await served?.close()
  })
  afterEach(() => browser.endTest())

  const result = (page: Page) => page.getByRole('region', { name: 'Result' })

  it('fills in a form by keyboard, and its address shows it again', async () => {
    const page = await browser.open(served, 'playground/demo__many')
    await page.getByLabel('path').fill('notes/a.md')
    await page.getByRole('textbox', { name: 'limit' }).fill('7')
    await page.getByLabel('mode').selectOption('exact')
    await page.getByLabel('Kind').selectOption('sms')
    await page.getByLabel('number').fill('555')
    await page.getByRole('button', { name: 'Add tags' }).click()
    await page.getByRole('button', { name: 'Add an entry' }).click()
    await page.getByLabel('name').fill('urgent')
    await page.getByLabel('name').press('Control+Enter')
    await result(page).getByText('matches the output schema').waitFor()
    await result(page).getByRole('button', { name: 'structured' }).click()
    await result(page).getByText('notes/a.md').waitFor()
    const { searchParams } = new URL(page.url().replace('#/', ''))
    expect(JSON.parse(searchParams.get('args') ?? '')).toEqual({
      path: 'notes/a.md',
      limit: 7,
      mode: 'exact',
      by: { kind: 'sms', number: '555' },
      tags: [{ name: 'urgent' }],
    })
    await page.reload()
    await expect.poll(() => page.getByLabel('path').inputValue()).toBe('notes/a.md')
    await expect.poll(() => page.getByLabel('number').inputValue()).toBe('555')
  })

  it('shows the problems of arguments at their fields, and calls anyway if it is told to', async () => {
    const page = await browser.open(served, 'playground/demo__many')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByText('do not match the schema').waitFor()
    expect(await page.locator('.issues li').count()).toBeGreaterThan(0)
    await page.getByRole('button', { name: 'Call anyway' }).click()
    await result(page).getByText(/error/).first().waitFor()
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    await page.getByRole('button', { name: 'Fill in the structure' }).click()
    const text = await page.getByLabel('Arguments as JSON').inputValue()
    expect(JSON.parse(text)).toMatchObject({ limit: 5, by: { kind: 'email', address: '' } })
  })

  it('shows progress, and cancels', async () => {
    const page = await browser.open(served, 'playground/demo__steps')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await result(page).getByText('25 % the first of four').waitFor()
    // The call goes on while another page is shown.
    await page.getByRole('link', { name: 'Traffic' }).click()
    await page.getByRole('heading', { name: 'Traffic' }).waitFor()
    await page.goBack()
    await result(page).getByText('in flight').waitFor()
    await result(page).getByRole('button', { name: 'Cancel' }).click()
    await result(page).getByText('cancelled by the person').waitFor()
  })

  it('shows progress and cancellation of any call in the traffic', async () => {
    const page = await browser.open(served, 'traffic')
    await page.getByText('Calls appear here').waitFor()
    const client = await connect(served.address)
    const stop = new AbortController()
    const call = client.call('demo__steps', {}, { onProgress: () => {}, signal: stop.signal })
    const row = page.locator('[data-row]', { hasText: 'demo__steps' })
    await row.getByText('25 % done').waitFor()
    await row.click()
    const panel = page.getByRole('complementary', { name: 'Call' })
    await panel.getByText('progress 1 of 4').waitFor()
    await panel.getByText('the first of four').waitFor()
    stop.abort()
    await expect(call).rejects.toThrow()
    await panel.getByText('cancelled by its caller').waitFor()
    expect(await violations(page)).toEqual([])
    await client.close()
  })

  it('answers forms, pages to visit and sampling by hand', async () => {
    const page = await browser.open(served, 'playground/demo__ask')
    const question = page.getByRole('region', { name: 'Server request' })
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await question.getByText('Really remove a.md?').waitFor()
    await question.getByLabel('I am sure').check()
    await question.getByLabel('why').fill('it is old')
    await question.getByRole('button', { name: 'Accept' }).click()
    await result(page).getByText('it is old').waitFor()
    await page.goto(`${served.base}#/playground/demo__visit`)
    await page.getByRole('heading', { name: 'demo__visit' }).waitFor()
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await question.getByText('https://login.test/x').waitFor()
    await question.getByRole('button', { name: 'Open' }).click()
    const link = question.getByRole('link', { name: 'Open this address' })
    expect(await link.getAttribute('rel')).toBe('noreferrer noopener')
    await question.getByRole('button', { name: 'Decline' }).click()
    await result(page).getByText('decline').waitFor()
    await page.goto(`${served.base}#/playground/demo__think`)
    await page.getByRole('heading', { name: 'demo__think' }).waitFor()
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await question.getByText('What is 6 × 7?').waitFor()
    await question.getByLabel(/Answer as the model/).fill('42')
    await question.getByRole('button', { name: 'Answer' }).click()
    await result(page).getByText('42').waitFor()
  })

  it('shows text, images, sounds, links and resources as what they are', async () => {
    const page = await browser.open(served, 'playground/demo__media')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await result(page).getByText('An image <b>and</b> a sound').waitFor()
    const images = result(page).locator('img')
    expect(await images.count()).toBe(2)
    await expect
      .poll(() => images.first().evaluate(image => Reflect.get(image, 'naturalWidth')))
      .toBe(1)
    expect(await result(page).locator('audio').getAttribute('src')).toMatch(/^blob:/)
    await result(page).getByText('https://example.test/a').waitFor()
    await result(page).getByText('a note').waitFor()
    // The script inside of the image did not run: nothing was reported and nothing was shown.
    expect(await page.evaluate('document.querySelectorAll("svg script").length')).toBe(0)
  })

  it('gets prompts with completion, and reads resources and templates', async () => {
    const page = await browser.open(served, 'playground/demo__greet?what=prompts')
    await page.getByLabel('name').fill('A')
    await page.getByText('Ada · Alan').waitFor()
    await page.getByLabel('name').fill('Ada')
    await page.getByRole('button', { name: 'Get', exact: true }).click()
    await result(page).getByText('Hello, Ada!').waitFor()
    await page.goto(`${served.base}#/playground?what=resources`)
    await page.getByRole('link', { name: /\{id\}/ }).click()
    await page.getByLabel('id').fill('7')
    await page.getByRole('button', { name: 'Read', exact: true }).click()
    await result(page).getByText('the text of page 7').waitFor()
    await page.goto(`${served.base}#/playground?what=request`)
    await page.getByRole('button', { name: 'Send' }).click()
    await result(page).getByRole('button', { name: 'raw' }).click()
    await result(page).getByText('tools:').waitFor()
  })

  it.each(looks)('is accessible and fits at $width px, $theme', async look => {
    const page = await browser.open(served, 'playground/demo__many', look)
    await page.getByLabel('path').fill('a.md')
    await page.getByRole('button', { name: 'Add tags' }).click()
    await page.getByRole('button', { name: 'Add an entry' }).click()
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByText('do not match the schema').waitFor()
    await check(page, 'playground-form', look)
    for (const tool of ['media', 'ask', 'steps']) {
      await page.goto(`${served.base}#/playground/demo__${tool}`)
      await page.getByRole('heading', { name: `demo__${tool}` }).waitFor()
      await page.getByRole('button', { name: 'Call', exact: true }).click()
      await result(page).getByRole('heading', { name: 'Result' }).waitFor()
      const shown = { media: 'a note', ask: 'Really remove', steps: '25 %' }[tool] ?? ''
      await page.getByText(shown).first().waitFor()
      await check(page, `playground-${tool}`, look)
    }
  })

  async function check(page: Page, name: string, look: { theme: string; width: number }) {
    expect([name, await violations(page)]).toEqual([name, []])
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    expect([name, overflow]).toEqual([name, 0])
    if (!isWhole) return
    mkdirSync(artefacts, { recursive: true })
    await page.screenshot({ path: join(artefacts, `${name}-${look.width}-${look.theme}.png`) })
  }
})
