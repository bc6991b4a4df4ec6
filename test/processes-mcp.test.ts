import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { fixtureServer } from './mcp-interop/cells.ts'

const started: ChildProcessWithoutNullStreams[] = []

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

/** A server as a program, which has a timer that would keep it alive for ever. */
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

/** The messages on standard output, each a line; nothing else may be there. */
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

  /** All that still comes. */
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
  test('ends when its input ends, although something else would keep it alive', async () => {
    const { stdin, lines, exit } = start()
    stdin.end()
    expect(await lines.all()).toEqual([])
    expect(await exit).toEqual([0, null])
  })

  test('first answers all that it was asked', async () => {
    const { stdin, lines, exit } = start()
    stdin.end(call(1, 'slow') + call(2, 'image') + call(3, 'slow'))
    const came = await lines.all()
    expect(came).toHaveLength(3)
    expect(came).toMatchObject([{ id: 2 }, answer(1, 'at last'), answer(3, 'at last')])
    expect(await exit).toEqual([0, null])
  })

  test('ends the streams of changes in good order, which would have no end', async () => {
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

  test('may print without harm: it goes to standard error', async () => {
    const { stdin, lines, stderr, exit } = start()
    stdin.end(call(1, 'prints'))
    expect(await lines.all()).toMatchObject([answer(1, 'printed')])
    expect(await stderr).toContain('stray words')
    expect(await exit).toEqual([0, null])
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'answers on %s what is in flight, and ends',
    async signal => {
      const { child, stdin, lines, exit } = start()
      stdin.write(call(1, 'slow', progressing))
      expect(await lines.next()).toMatchObject({ method: 'notifications/progress' })
      child.kill(signal)
      expect(await lines.all()).toMatchObject([answer(1, 'at last')])
      expect(await exit).toEqual([0, null])
    },
  )

  test('ends at once on the second signal', async () => {
    const { child, stdin, lines, exit } = start()
    stdin.write(call(1, 'wait', progressing))
    expect(await lines.next()).toMatchObject({ method: 'notifications/progress' })
    child.kill('SIGTERM')
    // A request that is refused tells that the first signal has been heard.
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
