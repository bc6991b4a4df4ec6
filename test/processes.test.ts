import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { pollOptions } from './support/poll-options.ts'
import { isAlive } from './support/processes.ts'

const fixture = (name: string): string =>
  fileURLToPath(new URL(`fixtures/${name}.js`, import.meta.url))

const started: ChildProcessWithoutNullStreams[] = []

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

function start(name: string, ...args: string[]): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [fixture(name), ...args])
  child.stdin.on('error', () => {})
  started.push(child)
  return child
}

/** Starts a program on stdio; returns its output and its exit. */
function serve() {
  const child = start('stdio-server')
  const stdout = text(child.stdout)
  const stderr = text(child.stderr)
  const exit = once(child, 'exit')
  return { child, stdin: child.stdin, stdout, stderr, exit }
}

const request = (id: number, method: string, ...params: unknown[]): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`

const messages = (output: string): unknown[] =>
  output
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line))

describe('a program that serves on its stdio', () => {
  test('responds to every request received before its input ended, then exits', async () => {
    const { stdin, stdout, stderr, exit } = serve()
    let requests = ''
    for (let id = 0; id < 100; id++) requests += request(id, 'echo', id)
    stdin.end(requests)
    const replies = messages(await stdout)
    expect(replies).toHaveLength(100)
    expect(replies).toContainEqual({ jsonrpc: '2.0', id: 99, result: 99 })
    expect(await exit).toEqual([0, null])
    expect(await stderr).toBe('closed: in good order\n')
  })

  test('writes all of a large response before it exits', async () => {
    const { stdin, stdout, exit } = serve()
    stdin.end(request(1, 'large', 3 << 20))
    expect(messages(await stdout)).toEqual([{ jsonrpc: '2.0', id: 1, result: 'é'.repeat(3 << 20) }])
    expect(await exit).toEqual([0, null])
  })

  test('may print, because console output goes to standard error', async () => {
    const { stdin, stdout, stderr } = serve()
    stdin.end(request(1, 'print'))
    expect(messages(await stdout)).toEqual([{ jsonrpc: '2.0', id: 1, result: 'printed' }])
    const printed = await stderr
    for (const what of [
      'log { a: 1 }',
      'info',
      'debug',
      'table',
      'group\n  indented',
      'dir',
      'error',
    ]) {
      expect(printed).toContain(what)
    }
  })

  test('rejects a message over the limit and continues', async () => {
    const { stdin, stdout } = serve()
    stdin.write(request(1, 'echo', 'x'.repeat(1 << 20)))
    stdin.end(request(2, 'echo', 'small'))
    expect(messages(await stdout)).toMatchObject([
      { id: null, error: { code: -32012 } },
      { id: 2, result: 'small' },
    ])
  })

  test('has one channel at a time', async () => {
    const { stdin, stdout } = serve()
    stdin.end(request(1, 'openAnother'))
    expect(messages(await stdout)).toMatchObject([{ id: 1, result: 'refused' }])
  })

  test('can open another channel after closing the first, and print in between', async () => {
    const { child, stdin, exit } = serve()
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    stdin.write(request(1, 'reopen'))
    expect((await lines.next()).value).toContain('reopening')
    expect((await lines.next()).value).toBe('printed in between')
    stdin.end(request(2, 'echo', 'again'))
    expect((await lines.next()).value).toContain('"again"')
    expect(await exit).toEqual([0, null])
  })

  test('exits when it has closed its channel, although its input is still open', async () => {
    const { stdin, exit } = serve()
    stdin.write(request(1, 'closeSoon'))
    expect(await exit).toEqual([0, null])
  })

  test('closes quietly when its output is no longer read', async () => {
    const child = start('stdio-server')
    const stderr = text(child.stderr)
    const exit = once(child, 'exit')
    child.stdin.write(request(0, 'echo', 'up'))
    await once(child.stdout, 'data')
    child.stdout.destroy()
    for (let id = 1; id < 10; id++) child.stdin.write(request(id, 'large', 100_000))
    expect(await exit).toEqual([0, null])
    expect(await stderr).toBe('closed: in good order\n')
  })
})

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

describe('the exit of a program', () => {
  test.each(['exit', 'throw'])('by %s ends its child processes', async how => {
    const { child, pid } = await own(how, 'stubborn')
    await once(child, 'exit')
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), pollOptions)
  })

  test.each(signals)(
    'by %s ends its child processes, and keeps the usual exit status',
    async signal => {
      const { child, pid } = await own('wait', 'stubborn')
      child.kill(signal)
      expect(await once(child, 'exit')).toEqual([null, signal])
      await vi.waitFor(() => expect(isAlive(pid)).toBe(false), pollOptions)
    },
  )

  test('is not delayed by a signal listener that only cleans up', async () => {
    const { child, lines, pid } = await own('tidy', 'stubborn')
    expect((await lines.next()).value).toBe('listening')
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([null, 'SIGTERM'])
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), pollOptions)
  })

  test('is not caused by a signal that the program handles: its child processes stay alive', async () => {
    const { child, lines, pid } = await own('listen', 'stubborn')
    expect((await lines.next()).value).toBe('listening')
    for (const signal of signals) {
      child.kill(signal)
      expect((await lines.next()).value).toBe(`took ${signal}`)
    }
    expect(isAlive(pid)).toBe(true)
    process.kill(-pid, 'SIGKILL')
  })

  test('by SIGKILL reaches a child process as the end of its input', async () => {
    const { child, pid } = await own('wait', 'echo')
    child.kill('SIGKILL')
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), pollOptions)
  })
})

async function own(how: string, role: string) {
  const child = start('owner', how, role)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  child.stderr.resume()
  return { child, lines, pid: Number((await lines.next()).value) }
}
