// npm run console:pictures: takes the pictures of the console in docs/pictures anew, from a router with three servers,
// one of which is broken, while a few clients call them.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { engineProgram, installEngines } from './engines.js'
import { install } from './install.js'
import { root } from './steps.js'

if (!(await install())) process.exit(1)
await installEngines()
const executablePath = process.env.CHROMIUM ?? engineProgram('chromium')
if (executablePath === undefined) {
  console.error('chromium is not installed')
  process.exit(1)
}
const { chromium } = await import('../third-party/node_modules/playwright-core/index.mjs')
const { connect, listen, Server } = await import('../dist/index.js')
const { Router } = await import('../dist/router/index.js')
const { observe } = await import('../dist/observe/index.js')
const { consoleOf } = await import('../dist/console/index.js')

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const router = new Router({
  servers: {
    notes: { server: notes(), tools: { deny: ['delete_all'] } },
    search: { server: search() },
    billing: {
      command: 'node',
      args: ['-e', "console.error('BILLING_API_KEY is not set'); process.exit(1)"],
    },
  },
  onError: () => {},
})
const observer = observe({ endpoint: router })
const page = consoleOf(router, { observer })
const listener = await listen(router, 'http://127.0.0.1:0/mcp', { beside: page })
const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
const browser = await chromium.launch({ executablePath, args })
const stop = new AbortController()
try {
  await router.ready()
  const callers = [callLoop('claude-code', '2.1'), callLoop('cursor', '1.7')]
  const folder = join(root, 'docs', 'pictures')
  mkdirSync(folder, { recursive: true })
  const context = await browser.newContext({
    viewport: { width: 1280, height: 720 },
    reducedMotion: 'reduce',
  })
  const tab = await context.newPage()
  await tab.goto(page.link(listener.address))
  await tab.locator('.attention').waitFor()
  // The figures of the last seconds fill the charts.
  await new Promise(resolve => setTimeout(resolve, 20_000))
  await picture(tab, folder, 'overview')
  await tab.goto(`${new URL('/console/', listener.address)}#/traffic`)
  await tab.locator('text=search__find').first().waitFor()
  await new Promise(resolve => setTimeout(resolve, 3000))
  await picture(tab, folder, 'traffic')
  await tab.goto(`${new URL('/console/', listener.address)}#/tools`)
  await tab.locator('text=notes__write').first().waitFor()
  await picture(tab, folder, 'tools')
  stop.abort()
  await Promise.all(callers)
} finally {
  stop.abort()
  await browser.close()
  await listener.close()
  await page.close()
  await observer.close()
  await router.close()
}

async function picture(tab, folder, name) {
  await tab.screenshot({ path: join(folder, `console-${name}.png`) })
  console.log(`docs/pictures/console-${name}.png`)
}

/** Calls tools as a host would, until it is stopped. */
async function callLoop(name, version) {
  const client = await connect(listener.address, { name, version })
  while (!stop.signal.aborted) {
    const pause = 40 + Math.random() * 160
    const tool = ['notes__read', 'notes__write', 'search__find'][Math.floor(Math.random() * 3)]
    await client.call(tool, { text: 'meeting notes' }).catch(() => {})
    await new Promise(resolve => setTimeout(resolve, pause))
  }
  await client.close()
}

function notes() {
  const server = new Server({ name: 'notes', version: '1.4.0' })
  server.tool('read', { description: 'Reads a note.', input: text }, ({ text }) => text)
  server.tool('write', { description: 'Writes a note.', input: text }, async ({ text }) => {
    await new Promise(resolve => setTimeout(resolve, 15 * Math.random()))
    return `${text.length} characters written`
  })
  server.tool('delete_all', { description: 'Deletes all notes.' }, () => 'deleted')
  return server
}

function search() {
  const server = new Server({ name: 'search', version: '0.9.2' })
  server.tool('find', { description: 'Finds notes.', input: text }, async ({ text }) => {
    await new Promise(resolve => setTimeout(resolve, 20 + 180 * Math.random()))
    if (Math.random() < 0.03) throw new Error('the index is being rebuilt')
    return `3 notes about ${text}`
  })
  return server
}
