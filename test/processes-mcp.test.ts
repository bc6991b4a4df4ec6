import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { fixtureServer } from './mcp-interop/cells.ts'

const started: ChildProcessWithoutNullStreams[] = []

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

/** Starts a server program with a timer that would keep it alive forever. */
function start() {
  const { command, args } = fixtureServer('ours')
  const child = spawn(command, [...args, 'more'])
  child.stdin.on('error', () => {})
  started.push(child)
  const lines = new Lines(child)
  const stderr = text(child.stderr)
  const exit = once(child, 'exit')
  return { child, stdin: child.stdin, lines, stderr, exit }
}

/** The messages on standard output, one per line; nothing else may be written there. */
class Lines {
  readonly #iterator: AsyncIterator<Buffer>
  #rest = ''
  readonly #messages: unknown[] = []

  constructor({ stdout }: ChildProcessWithoutNullStreams) {
    this.#iterator = stdout[Symbol.asyncIterator]()
  }

  /** The next message; undefined at the end. */
  async next(): Promise<unknown> {
    while (this.#messages.length === 0) {
      const { value, done } = await this.#iterator.next()
      if (done) return undefined
      const lines = (this.#rest + value).split('\n')
      this.#rest = lines.pop() ?? ''
      for (const line of lines) this.#messages.push(JSON.parse(line))
    }
    return this.#messages.shift()
  }

  /** Returns all remaining messages. */
  async all(): Promise<unknown[]> {
    const messages: unknown[] = []
    for (;;) {
      const message = await this.next()
      if (message === undefined) return messages
      messages.push(message)
    }
  }
}

const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

const call = (id: number, name: string, more: object = {}): string =>
  line({ id, method: 'tools/call', params: { name, _meta: { ...meta, ...more } } })

const progressing = { progressToken: 'p' }

const answer = (id: number, words: string) => ({
  id,
  result: { content: [{ type: 'text', text: words }] },
})

describe('a program that serves with `serve`', () => {
  test('exits when its input ends, although a timer would keep it alive', async () => {
    const { stdin, lines, exit } = start()
    stdin.end()
    expect(await lines.all()).toEqual([])
    expect(await exit).toEqual([0, null])
  })

  test('first responds to all requests it received', async () => {
    const { stdin, lines, exit } = start()
    stdin.end(call(1, 'slow') + call(2, 'image') + call(3, 'slow'))
    const came = await lines.all()
    expect(came).toHaveLength(3)
    expect(came).toMatchObject([{ id: 2 }, answer(1, 'at last'), answer(3, 'at last')])
    expect(await exit).toEqual([0, null])
  })

  test('ends open subscriptions with a complete result', async () => {
    const { stdin, lines, exit } = start()
    const params = { notifications: { toolsListChanged: true }, _meta: meta }
    stdin.end(line({ id: 1, method: 'subscriptions/listen', params }))
    expect(await lines.all()).toContainEqual(
      expect.objectContaining({
        id: 1,
        result: expect.objectContaining({ resultType: 'complete' }),
      }),
    )
    expect(await exit).toEqual([0, null])
  })

  test('may print, because console output goes to standard error', async () => {
    const { stdin, lines, stderr, exit } = start()
    stdin.end(call(1, 'prints'))
    expect(await lines.all()).toMatchObject([answer(1, 'printed')])
    expect(await stderr).toContain('stray words')
    expect(await exit).toEqual([0, null])
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'responds to requests in flight on %s, and exits',
    async signal => {
      const { child, stdin, lines, exit } = start()
      stdin.write(call(1, 'slow', progressing))
      expect(await lines.next()).toMatchObject({ method: 'notifications/progress' })
      child.kill(signal)
      expect(await lines.all()).toMatchObject([answer(1, 'at last')])
      expect(await exit).toEqual([0, null])
    },
  )

  test('exits at once on the second signal', async () => {
    const { child, stdin, lines, exit } = start()
    stdin.write(call(1, 'wait', progressing))
    expect(await lines.next()).toMatchObject({ method: 'notifications/progress' })
    child.kill('SIGTERM')
    // A rejected request shows that the server has received the first signal.
    let id = 1
    let refused: unknown
    while (refused === undefined) {
      stdin.write(call(++id, 'image'))
      const next = await lines.next()
      if (typeof next === 'object' && next !== null && 'error' in next) refused = next
    }
    expect(refused).toMatchObject({ error: { code: expect.any(Number) } })
    child.kill('SIGTERM')
    expect(await exit).toEqual([143, null])
  })
})
