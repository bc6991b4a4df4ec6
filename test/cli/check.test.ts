import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterAll, describe, expect, test } from 'vitest'
import type { StepReport } from '../../src/cli/check/steps.ts'
import { listen, Server } from '../../src/index.ts'
import { fixture, trunkline } from './bin.ts'

const started: ChildProcessWithoutNullStreams[] = []
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL')
  await Promise.all(started.map(child => child.exitCode ?? child.signalCode ?? once(child, 'exit')))
})

interface Checked {
  readonly code: number | null
  readonly passed: boolean
  readonly steps: readonly StepReport[]
}

async function check(...args: readonly string[]): Promise<Checked> {
  const { code, json } = await trunkline(['check', '--json', ...args])
  return { code, ...json() }
}

/** What a step found that is wrong. */
function wrong({ steps }: Checked, step: string) {
  const report = steps.find(each => each.step === step)
  return (report?.findings ?? []).filter(({ verdict }) => verdict === 'fail')
}

const failing = ({ steps }: Checked): string[] =>
  steps.filter(({ verdict }) => verdict === 'fail').map(({ step }) => step)

describe('trunkline check of a program', () => {
  const broken = [
    ['prints-junk', 'stdout', 'the first: Server started!', 'Print on stderr instead'],
    [
      'never-answers',
      'handshake',
      'initialize is not answered within',
      'give it more time with --timeout',
    ],
    [
      'exits-early',
      'handshake',
      'exited with code 7; it said: no configuration found',
      'Start it by hand',
    ],
    ['no-info', 'handshake', 'has no serverInfo', 'serverInfo { name, version }'],
    ['wrong-version', 'revision', 'it agrees on "1999-01-01"', 'never repeat what was asked'],
    ['odd-version', 'revision', '"1.0" agreed on', '"protocolVersion" of the answer is one of'],
    [
      'declared-only',
      'capabilities',
      '"prompts" is declared, and prompts/list gives',
      'do not declare "prompts"',
    ],
    ['duplicate-tools', 'lists', 'tools/list has "hello" twice', 'a name of its own'],
    ['endless-cursor', 'lists', 'a cursor that it has given before', 'Leave nextCursor out'],
    [
      'invalid-schema',
      'schemas',
      'the inputSchema of "texts" has the type "string"',
      'Make it a JSON Schema',
    ],
    ['answers-anything', 'errors', 'an unknown method gives a result', 'with the error -32601'],
    [
      'dies-on-malformed',
      'malformed',
      'after broken JSON the server answers nothing more',
      'one bad line must not end',
    ],
    ['drops-id-zero', 'ids', 'the id 0 gives silence', 'never test one for truth'],
    [
      'answers-notifications',
      'cancellation',
      'a notification is answered',
      'Never answer what has no id',
    ],
    ['no-ping', 'ping', 'ping gives the error -32601', 'Answer "ping"'],
    ['ignores-end', 'shutdown', 'still runs', 'Exit when standard input ends'],
  ] as const

  test.concurrent.each(broken)('%s fails at "%s"', async (name, step, saw, advice) => {
    const patience = new Map([
      ['never-answers', '500ms'],
      ['drops-id-zero', '5s'],
    ])
    const file = fixture(`broken/${name}.js`)
    const checked = await check(
      '--timeout',
      patience.get(name) ?? '20s',
      '--',
      process.execPath,
      file,
    )
    expect([checked.code, checked.passed]).toEqual([5, false])
    const [first] = wrong(checked, step)
    expect(first).toEqual({
      verdict: 'fail',
      saw: expect.stringContaining(saw),
      advice: expect.stringContaining(advice),
    })
  })

  test('every wrong schema is named', async () => {
    const checked = await check('--', process.execPath, fixture('broken/invalid-schema.js'))
    expect(failing(checked)).toEqual(['schemas'])
    const seen = wrong(checked, 'schemas').map(({ saw }) => saw)
    expect(seen).toEqual([
      expect.stringContaining('"texts" has the type "string"'),
      expect.stringContaining('"types" is no valid schema'),
      expect.stringContaining('"none" is missing'),
      expect.stringContaining('"header" cannot be used over HTTP'),
    ])
  })

  test('after the server has died nothing more is tried, and nothing more fails', async () => {
    const checked = await check('--', process.execPath, fixture('broken/dies-on-malformed.js'))
    expect(failing(checked)).toEqual(['malformed'])
    const untried = checked.steps.filter(({ tried }) => !tried).map(({ step }) => step)
    expect(untried).toEqual(['ids', 'cancellation', 'ping', 'shutdown'])
  })

  test('a program that does not exist fails at "reach", and the rest is not tried', async () => {
    const checked = await check('--', 'trunkline-no-such-program')
    expect(failing(checked)).toEqual(['reach'])
    expect(wrong(checked, 'reach')[0]?.advice).toContain('found in PATH')
    expect(checked.steps.find(({ step }) => step === 'lists')?.tried).toBe(false)
  })

  const right = [
    ['ours', '../fixtures/everything-stdio.js'],
    ['one written by hand', 'broken/right.js'],
    ['one made with SDK 1', '../mcp-interop/server-sdk1.js'],
    ['one made with SDK 2', '../mcp-interop/server-sdk2.js'],
  ] as const

  test.each(right)('%s is right', async (_, path) => {
    const checked = await check('--timeout', '20s', '--', process.execPath, fixture(path))
    expect(
      checked.steps.flatMap(({ findings }) => findings).filter(({ verdict }) => verdict === 'fail'),
    ).toEqual([])
    expect([checked.code, checked.passed]).toEqual([0, true])
  })

  test('ours gives no warning either, in both eras', async () => {
    const file = fixture('../fixtures/everything-stdio.js')
    const { steps } = await check('--timeout', '20s', '--', process.execPath, file)
    expect(steps.filter(({ verdict }) => verdict === 'warn')).toEqual([])
    const { findings = [] } = steps.find(({ step }) => step === 'handshake') ?? {}
    expect(findings.map(({ saw }) => saw)).toEqual([
      'initialize: everything 1.0.0, revision 2025-11-25',
      'server/discover: everything 1.0.0, revision 2026-07-28',
    ])
  })

  test('no tool is called unless it is named', async () => {
    const command = ['--', process.execPath, fixture('../fixtures/everything-stdio.js')]
    const args = ['--call', 'test_structured_content', '--args', '{"a":1,"b":2}']
    const checked = await check(...args, ...command)
    expect(checked.steps.at(-1)).toMatchObject({ step: 'call', verdict: 'ok' })
    const failed = await check('--call', 'test_error_handling', ...command)
    expect([failed.code, failing(failed)]).toEqual([5, ['call']])
  })

  test('is told step by step for people, with advice', async () => {
    const file = fixture('broken/duplicate-tools.js')
    const { code, stdout, stderr } = await trunkline(['check', '--', process.execPath, file])
    expect([code, stderr]).toEqual([5, ''])
    expect(stdout).toMatch(/^ok {4}reach {9}".*" starts$/m)
    expect(stdout).toMatch(
      /^fail {2}lists {9}tools\/list has "hello" twice\n {20}→ Give each entry/m,
    )
    expect(stdout).toMatch(/^The server is not right: \d+ ok, 0 with warnings, 1 failed/m)
    expect(stdout).not.toContain('\u001b')
  })
})

describe('trunkline check over the network', () => {
  async function broken(way: string): Promise<string> {
    const child = spawn(process.execPath, [fixture('broken/http.js'), way])
    started.push(child)
    const [line] = await once(createInterface({ input: child.stdout }), 'line')
    return line
  }

  const ways = [
    ['fails', '500, text/plain', 'Its log says why'],
    ['page', '200, text/html', 'Answers to a POST are application/json or text/event-stream'],
    ['wrong-type', '200, text/plain', 'Content-Type'],
    ['nowhere', '404, text/html', 'There is no MCP endpoint at this path'],
    ['locked', '401', '--header "Authorization: Bearer …"'],
    [
      'open',
      'from the web page http://evil.example is served',
      'any web page could talk to this server',
    ],
  ] as const

  test.concurrent.each(ways)('a server that is %s fails at "http"', async (way, saw, advice) => {
    const checked = await check('--timeout', '20s', await broken(way))
    expect([checked.code, failing(checked)]).toEqual([5, ['http']])
    expect(wrong(checked, 'http')[0]).toEqual({
      verdict: 'fail',
      saw: expect.stringContaining(saw),
      advice: expect.stringContaining(advice),
    })
  })

  test('a server over HTTP that is right passes', async () => {
    const checked = await check('--timeout', '20s', await broken('right'))
    expect([checked.code, failing(checked)]).toEqual([0, []])
  })

  test.each(['http://127.0.0.1:0/mcp', 'ws://127.0.0.1:0/mcp', 'tcp://127.0.0.1:0'])(
    'ours is right at %s',
    async address => {
      const server = new Server({ name: 'small', version: '1.0.0' })
      server.tool('hello', { description: 'Says hello' }, () => 'hello')
      const listener = await listen(server, address)
      try {
        const { code, steps } = await check('--timeout', '20s', listener.address)
        expect(steps.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn')).toEqual([])
        expect(code).toBe(0)
      } finally {
        await listener.close()
      }
    },
  )

  test('where nothing listens it fails at "reach"', async () => {
    const checked = await check('http://127.0.0.1:1/mcp')
    expect(failing(checked)).toEqual(['reach'])
    expect(wrong(checked, 'reach')[0]?.advice).toContain('Nothing listens there')
  })

  test('a server that does not speak TLS fails at "tls"', async () => {
    const address = (await broken('right')).replace('http:', 'https:')
    expect(failing(await check('--timeout', '5s', address))).toEqual(['tls'])
  })
})
