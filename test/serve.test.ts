import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { connect } from '../src/connect.ts'
import { proves } from './requirements.ts'

const program = fileURLToPath(new URL('fixtures/serving.js', import.meta.url))
const started: ChildProcessWithoutNullStreams[] = []

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

function start(
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  node: readonly string[] = [],
) {
  const child = spawn(process.execPath, [...node, program, ...args], {
    env: { ...process.env, ...env },
  })
  started.push(child)
  const lines = createInterface({ input: child.stderr })[Symbol.asyncIterator]()
  return {
    child,
    stdout: text(child.stdout),
    exit: once(child, 'exit'),
    /** Returns the next line of its standard error. */
    complaint: async (): Promise<unknown> => (await lines.next()).value,
  }
}

let lastId = 0
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
}

function toolCall(name: string): string {
  lastId++
  const params = { name, arguments: {}, _meta: meta }
  return `${JSON.stringify({ jsonrpc: '2.0', id: lastId, method: 'tools/call', params })}\n`
}

const textsIn = (stdout: string): unknown[] =>
  stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line).result.content[0].text)

describe('a program that serves on its stdio', () => {
  test('exits when its input ends, after responding to all requests', async () => {
    proves('T7')
    const { child, stdout, exit } = start()
    child.stdin.end(toolCall('wait') + toolCall('release'))
    expect(textsIn(await stdout)).toEqual(['ok', 'released'])
    expect(await exit).toEqual([0, null])
  })

  test('prints a notice if it is started in a terminal', async () => {
    const terminal = ['--import', 'data:text/javascript,process.stdin.isTTY=true']
    const { child, complaint, exit } = start([], {}, terminal)
    expect(await complaint()).toMatch(
      /^This server speaks MCP on stdin and stdout, .*npx trunkline list -- node .*serving\.js, or /,
    )
    child.stdin.end()
    expect(await exit).toEqual([0, null])
  })

  test('redirects everything its code prints to standard error', async () => {
    proves('T1b')
    const { child, stdout, complaint } = start()
    child.stdin.end(toolCall('print'))
    expect(textsIn(await stdout)).toEqual(['ok'])
    expect(await complaint()).toBe('printed')
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'responds to requests in flight after %s',
    async signal => {
      const { child, stdout, exit, complaint } = start()
      child.stdin.write(toolCall('wait'))
      expect(await complaint()).toBe('waiting')
      child.kill(signal)
      child.kill('SIGUSR2')
      expect(textsIn(await stdout)).toEqual(['released'])
      expect(await exit).toEqual([0, null])
    },
  )

  test('exits at once on a second signal', async () => {
    const { child, exit, complaint } = start()
    child.stdin.write(toolCall('wait'))
    expect(await complaint()).toBe('waiting')
    child.kill('SIGTERM')
    child.kill('SIGINT')
    const [code] = await exit
    // The two may arrive in either order.
    expect([130, 143]).toContain(code)
  })
})

describe('a program that serves on other transports', () => {
  test('prints its addresses, and serves on all of them', async () => {
    const { child, complaint, exit } = start(['--tcp', '0', '--ws', '0'])
    const addresses = [await complaint(), await complaint()].map(String)
    expect(addresses).toEqual([
      expect.stringMatching(/^listening on tcp:\/\/127\.0\.0\.1:\d+$/),
      expect.stringMatching(/^listening on ws:\/\/127\.0\.0\.1:\d+\/mcp$/),
    ])
    for (const line of addresses) {
      await using client = await connect(line.replace('listening on ', ''))
      expect((await client.call('print')).text).toBe('ok')
    }
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
  })

  test('ignores the end of its input', async () => {
    const { child, complaint } = start([], { MCP_TRANSPORT: 'tcp', MCP_PORT: '0' })
    child.stdin.end()
    const address = String(await complaint()).replace('listening on ', '')
    await using client = await connect(address)
    expect(client.server.name).toBe('serving')
  })

  test('exits with an error that names the invalid argument', async () => {
    const { exit, child } = start(['--tcp', 'nowhere'])
    const said = await text(child.stderr)
    expect(said).toContain('--tcp takes a port, or a host and a port, not "nowhere"')
    expect(await exit).toEqual([1, null])
  })
})
