import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Cell, expectedOf } from './capabilities.ts'
import { connectCell, fixtureServer } from './cells.ts'
import type { McpDriver } from './driver.ts'
import { connectProbingSdk2 } from './driver-sdk2.ts'
import { outcomeOf, refused } from './outcome.ts'
import { answers, scenario } from './scenario.ts'

// Our server over HTTP with the clients of other packages: the same steps and outcomes as over a pipe.

const cells: readonly (Cell & { readonly path: string })[] = [
  { driver: 'sdk1', server: 'ours', revision: '2024-11-05', path: '/sse' },
  { driver: 'sdk1', server: 'ours', revision: '2025-03-26', path: '/mcp' },
  { driver: 'sdk1', server: 'ours', revision: '2025-06-18', path: '/mcp' },
  { driver: 'sdk1', server: 'ours', revision: '2025-11-25', path: '/mcp' },
  { driver: 'sdk2', server: 'ours', revision: '2024-11-05', path: '/sse' },
  { driver: 'sdk2', server: 'ours', revision: '2025-11-25', path: '/mcp' },
  { driver: 'sdk2', server: 'ours', revision: '2026-07-28', path: '/mcp' },
  { driver: 'ours', server: 'ours', revision: '2025-11-25', path: '/mcp' },
  { driver: 'ours', server: 'ours', revision: '2026-07-28', path: '/mcp' },
]

const { command, args } = fixtureServer('ours')
let child: ChildProcess
let base = ''

beforeAll(async () => {
  child = spawn(command, [...args, '--http', '0'], { stdio: ['ignore', 'ignore', 'pipe'] })
  let words = ''
  while (base === '') {
    words += String((await once(child.stderr ?? child, 'data'))[0])
    base = /listening on (http:\S+?)\/mcp/.exec(words)?.[1] ?? ''
  }
})

afterAll(async () => {
  child.kill()
  await once(child, 'exit')
})

describe.each(cells)('a client of $driver at $path of our server in $revision', cell => {
  let driver: McpDriver

  beforeAll(async () => {
    driver = await connectCell(cell, undefined, { url: base + cell.path })
  })

  afterAll(() => driver?.close())

  test('they speak the requested revision', () => {
    expect(driver.server.revision).toBe(cell.revision)
  })

  test.each(scenario.map(step => [step.name, step] as const))('%s', async (_name, step) => {
    const expected = isUnread(step.name, cell) ? unread : expectedOf(step, cell)
    expect(await outcomeOf(step, driver)).toMatchObject(expected)
  })
})

/** The package parses the error only in responses with the status 400. */
const unread = refused('CLIENT_HTTP_NOT_IMPLEMENTED', 'client')

function isUnread(step: string, { driver, revision }: Cell): boolean {
  const isUnknown = step === 'a method that does not exist is refused'
  return isUnknown && driver === 'sdk2' && revision === '2026-07-28'
}

test('a client of sdk2 in probing mode speaks the newest revision', async () => {
  const place = { url: `${base}/mcp` }
  const driver = await connectProbingSdk2(place, { answers, revision: '2026-07-28' })
  expect(driver.server.revision).toBe('2026-07-28')
  expect(await driver.callTool('echo', { text: 'hello' })).toMatchObject({ isError: false })
  await driver.close()
})

describe('the Inspector CLI', () => {
  const program = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/inspector-cli/build/index.js',
  )
  const targets = ['a program', '/mcp', '/sse'] as const

  async function inspect(target: (typeof targets)[number], ...asked: string[]): Promise<unknown> {
    const place = target === 'a program' ? [command, ...args] : [base + target]
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...place, ...asked])
    return JSON.parse(stdout)
  }

  test.each(targets)('lists the tools of %s', async target => {
    const { tools } = (await inspect(target, '--method', 'tools/list')) as { tools: unknown[] }
    expect(tools).toContainEqual(expect.objectContaining({ name: 'echo' }))
  })

  test.each(targets)('calls a tool of %s', async target => {
    const call = ['--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'text=hello']
    expect(await inspect(target, ...call)).toEqual({ content: [{ type: 'text', text: 'hello' }] })
  })
})
