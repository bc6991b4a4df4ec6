import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { listen } from '../src/index.ts'
import { read, root } from './sources.ts'

const exec = promisify(execFile)

/** Examples that are told to end by themselves; `null` for tools that have a test of their own. */
const argumentsOf: Readonly<Record<string, string[] | null>> = {
  'demo.js': ['--once'],
  'call.js': null,
}

const examples = readdirSync(join(root, 'examples')).filter(
  name => name.endsWith('.js') && argumentsOf[name] !== null,
)

test.each(examples)('examples/%s runs and checks itself', async name => {
  await run(join('examples', name), ...(argumentsOf[name] ?? []))
})

describe('examples/call.js', () => {
  const methods = { sum: (a: number, b: number) => a + b }

  test.each(['lines', 'length', 'headers'] as const)('calls over %s', async framing => {
    const listener = await listen(methods, 'tcp://127.0.0.1:0', { protocol: 'jsonrpc', framing })
    const { stdout } = await call(listener.address, 'sum', '[1, 2]', `--framing=${framing}`)
    await listener.close()
    expect(stdout).toBe('3\n')
  })

  test('calls over a WebSocket', async () => {
    const listener = await listen(methods, 'ws://127.0.0.1:0', { protocol: 'jsonrpc' })
    const { stdout } = await call(listener.address, 'sum', '[1, 2]')
    await listener.close()
    expect(stdout).toBe('3\n')
  })

  test('shows the error of a failed call and exits with 1', async () => {
    const listener = await listen(methods, 'tcp://127.0.0.1:0', { protocol: 'jsonrpc' })
    const failure = await call(listener.address, 'product').catch((error: unknown) => error)
    await listener.close()
    expect(failure).toMatchObject({ code: 1, stderr: 'RpcError -32601: Method not found\n' })
  })

  test('explains itself when it is called without a method', async () => {
    const failure = await call('tcp://127.0.0.1:1').catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 2, stderr: expect.stringContaining('usage:') })
  })
})

test('npm start serves without a terminal and stops cleanly when told to', async () => {
  const child = spawn(process.execPath, ['scripts/start.js'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    printed += chunk
    if (printed.includes('Ctrl-C stops it.')) break
  }
  const exit = once(child, 'exit')
  const address = /tcp:\S+/.exec(printed)?.[0] ?? ''
  const { stdout } = await call(address, 'sum', '[1, 2, 4]')
  child.kill('SIGTERM')
  expect(stdout).toBe('7\n')
  expect(await exit).toEqual([0, null])
})

test('the code in the README is one program that prints what its comments say', async () => {
  const blocks = read('README.md').matchAll(/^```js\n(.*?)^```/gms)
  const page = Array.from(blocks, block => block[1]).join('\n')
  // The port on the page is for people; a test takes one that is free.
  const program = page.replaceAll(':4000', `:${await freePort()}`)
  const expected = Array.from(program.matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm), line => line[1])
  expect(expected.length).toBeGreaterThan(0)
  const folder = join(root, '.cache')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `readme.${process.pid}.mjs`)
  writeFileSync(file, program)
  const { stdout } = await run(file).finally(() => rmSync(file))
  expect(stdout.trimEnd().split('\n')).toEqual(expected)
})

async function freePort(): Promise<string> {
  const listener = await listen({}, 'tcp://127.0.0.1:0', { protocol: 'jsonrpc' })
  await listener.close()
  return new URL(listener.address).port
}

function call(...args: string[]): Promise<{ stdout: string }> {
  return run('examples/call.js', ...args)
}

function run(file: string, ...args: string[]): Promise<{ stdout: string }> {
  return exec(process.execPath, [file, ...args], { cwd: root, timeout: 20_000 })
}
