import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../src/index.ts'
import { fixture, start, trunkline } from './bin.ts'

const library = pathToFileURL(fixture('../../dist/index.js')).href
const started: ChildProcessWithoutNullStreams[] = []
let home: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trunkline-serve-'))
})
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})
afterAll(() => rm(home, { recursive: true, force: true }))

async function file(name: string, rest: string, tool = 'hello'): Promise<string> {
  const path = join(home, name)
  const head = `import { Server, serve } from ${JSON.stringify(library)}
const served = new Server({ name: 'served', version: '1.0.0' })
served.tool('${tool}', { description: 'Says hello' }, () => process.argv.slice(2).join(' '))
`
  await writeFile(path, `${head}${rest}\n`)
  return path
}

/** Starts `serve`, and reads its stderr line by line. */
function serving(...args: readonly string[]) {
  const child = start(['serve', ...args])
  started.push(child)
  const lines = createInterface({ input: child.stderr })[Symbol.asyncIterator]()
  const line = async (): Promise<string> => String((await lines.next()).value)
  /** The next address it listens on. */
  const address = async (): Promise<string> => {
    for (;;) {
      const found = /^listening on (.*)$/.exec(await line())?.[1]
      if (found !== undefined) return found
    }
  }
  return { child, line, address, exit: once(child, 'exit') }
}

async function toolsAt(address: string): Promise<string[]> {
  const client = await connect(address)
  const names: string[] = []
  for await (const { name } of client.tools()) names.push(name)
  await client.close()
  return names
}

describe('trunkline serve', () => {
  test.each([
    [
      'modules.js',
      'commonjs',
      'import "node:fs"\nexport default 1',
      'modules.js is read as CommonJS; call it modules.mjs, or run "npm pkg set type=module"',
    ],
    [
      'common.js',
      'module',
      'const fs = require("node:fs")',
      'common.js is read as an ES module; use import and export in it, or call it common.cjs',
    ],
    [
      'lacking.mjs',
      'module',
      'import "no-such-package-here"',
      'run "npm install no-such-package-here"',
    ],
  ])('says what to do about %s in a package of type %s', async (name, type, code, advice) => {
    const folder = await mkdtemp(join(home, 'package-'))
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type }))
    await writeFile(join(folder, name), code)
    const { code: exit, stderr } = await trunkline(['serve', join(folder, name)])
    expect([exit, stderr]).toEqual([2, expect.stringContaining(advice)])
    expect(stderr).not.toContain('for help')
  })

  test.each([
    ['as default', 'export default served'],
    ['by name', 'export { served as server }'],
    ['and serves it too', 'export { served as server }\nawait serve(served)'],
    ['not, but serves it', 'await serve(served)'],
  ])('runs a file that exports its server %s', async (_, rest) => {
    const path = await file(`export-${rest.length}.js`, rest)
    const words = ['--', process.execPath, fixture('../../dist/cli/main.js'), 'serve', path]
    const { code, stdout, stderr } = await trunkline(['list', ...words])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('served 1.0.0')
  })

  test('serves on every given address, and exits cleanly', async () => {
    const path = await file('several.js', 'export { served as server }')
    const { child, address, exit } = serving(path, 'tcp://127.0.0.1:0', '--http', '0')
    const addresses = [await address(), await address()]
    expect(addresses.map(each => each.replace(/:\d+/, '')).sort()).toEqual([
      'http://127.0.0.1/mcp',
      'tcp://127.0.0.1',
    ])
    for (const each of addresses) expect(await toolsAt(each)).toEqual(['hello'])
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
  })

  test('passes the addresses to a file that calls serve itself', async () => {
    const path = await file('itself.js', 'await serve(served)')
    const { address } = serving(path, 'http://127.0.0.1:0/other', '--', '--own', 'words')
    const client = await connect(await address())
    expect((await client.call('hello')).text).toMatch(/^--http=127\.0\.0\.1:0 --own words$/)
    await client.close()
  })

  test('prints its addresses as JSON', async () => {
    const path = await file('json.js', 'export { served as server }')
    const { child } = serving(path, 'tcp://127.0.0.1:0', '--json')
    const [chunk] = await once(child.stdout, 'data')
    expect(JSON.parse(String(chunk)).addresses).toEqual([expect.stringMatching(/^tcp:\/\//)])
  })

  test.each([
    ['serves nothing', 'export const nothing = 1', 'neither exports a server nor calls serve()'],
    ['cannot be loaded', 'throw new Error("no key")', ': Error: no key'],
  ])('a file that %s is rejected', async (_, rest, message) => {
    const path = await file(`bad-${rest.length}.js`, rest)
    const { code, stdout, stderr } = await trunkline(['serve', path])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
  })

  test('runs a server of another library until its stdin ends', async () => {
    const initialize = {
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'x', version: '1' },
      },
    }
    const path = fixture('../mcp-interop/server-sdk1.js')
    const input = `${JSON.stringify(initialize)}\n`
    const { code, json, stderr } = await trunkline(['serve', path], { input })
    expect([code, stderr]).toEqual([0, ''])
    expect(json()).toMatchObject({ id: 0, result: { protocolVersion: '2025-11-25' } })
  })

  test('an address in use is reported', async () => {
    const path = await file('taken.js', 'export { served as server }')
    const first = serving(path, 'tcp://127.0.0.1:0')
    const { code, stderr } = await trunkline(['serve', path, await first.address()])
    expect(code).toBe(3)
    expect(stderr).toMatch(/^trunkline: /)
  })

  test('restarts when the file changes', async () => {
    const path = await file('watched.js', 'export { served as server }', 'before')
    const { child, address, exit } = serving(path, '--watch', '--tcp', '0')
    expect(await toolsAt(await address())).toEqual(['before'])
    await file('watched.js', 'export { served as server }', 'after')
    expect(await toolsAt(await address())).toEqual(['after'])
    child.kill('SIGINT')
    expect(await exit).toEqual([0, null])
  })
})

describe('an interruption', () => {
  test('ends a call, and the program that was started for it', async () => {
    const rest = `served.tool('hang', { description: 'Hangs' }, () => {
  process.stderr.write(\`pid \${process.pid}\\n\`)
  return new Promise(() => {})
})
export { served as server }`
    const path = await file('hang.js', rest)
    const words = ['--', process.execPath, fixture('../../dist/cli/main.js'), 'serve', path]
    const child = start(['call', 'hang', '--verbose', ...words])
    started.push(child)
    let pid = 0
    for await (const line of createInterface({ input: child.stderr })) {
      pid = Number(/^pid (\d+)/.exec(line)?.[1] ?? 0)
      if (pid !== 0) break
    }
    child.stderr.resume()
    const exit = once(child, 'exit')
    child.kill('SIGINT')
    expect(await exit).toEqual([130, null])
    expect(() => process.kill(pid, 0)).toThrow()
  })
})
