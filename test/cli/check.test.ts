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
  readonly officialSdkHabits: number
  readonly code: number | null
  readonly passed: boolean
  readonly steps: readonly StepReport[]
}

/** Checks a server. It has more time than the default, because a busy machine needs it. */
async function check(...args: readonly string[]): Promise<Checked> {
  const time = args.includes('--timeout') ? [] : ['--timeout', '20s']
  const { code, json } = await trunkline(['check', '--json', ...time, ...args])
  return { code, ...json() }
}

/** Checks of fixtures. Several tests look at the same one, and a check takes seconds. */
const checks = new Map<string, Promise<Checked>>()

/** Checks a program of this folder, once. */
function checkFixture(path: string, ...args: readonly string[]): Promise<Checked> {
  const key = JSON.stringify([path, ...args])
  const timeout = timeouts.get(path)
  const time = timeout === undefined ? [] : ['--timeout', timeout]
  const known = checks.get(key) ?? check(...time, '--', process.execPath, fixture(path), ...args)
  checks.set(key, known)
  return known
}

/** Those of programs that do not answer. */
const timeouts = new Map([
  ['broken/never-answers.js', '500ms'],
  ['broken/drops-id-zero.js', '5s'],
])

/** What a step found that is wrong. */
function wrong({ steps }: Checked, step: string) {
  const report = steps.find(each => each.step === step)
  return (report?.findings ?? []).filter(({ status }) => status === 'fail')
}

const failing = ({ steps }: Checked): string[] =>
  steps.filter(({ status }) => status === 'fail').map(({ step }) => step)

const everythingServer = '../fixtures/everything-stdio.js'

// A check mostly waits for what does not come.
describe.concurrent('trunkline check of a program', () => {
  const broken = [
    [
      'prints-junk',
      'stdout',
      '1 invalid line on stdout, the first: Server started!',
      'Print to stderr instead',
    ],
    [
      'never-answers',
      'handshake',
      'no response to initialize within',
      'give it more time with --timeout',
    ],
    ['exits-early', 'handshake', 'exited with code 7: no configuration found', 'Start it by hand'],
    ['no-info', 'handshake', 'has no serverInfo', 'serverInfo { name, version }'],
    [
      'wrong-version',
      'revision',
      'the server agrees to "1999-01-01"',
      'never echo the requested version',
    ],
    ['odd-version', 'revision', 'the server chose "1.0"', '"protocolVersion" must be one of'],
    [
      'declared-only',
      'capabilities',
      '"prompts" is declared, but prompts/list fails',
      'do not declare "prompts"',
    ],
    ['duplicate-tools', 'lists', 'tools/list lists "hello" twice', 'a unique name'],
    ['endless-cursor', 'lists', 'returns the same cursor twice', 'Omit nextCursor'],
    [
      'invalid-schema',
      'schemas',
      'the inputSchema of "texts" has the type "string"',
      'Use a JSON Schema',
    ],
    ['answers-anything', 'errors', 'an unknown method: got a result', 'with error -32601'],
    [
      'dies-on-malformed',
      'malformed',
      'after broken JSON the server stops responding',
      'one bad line must not end',
    ],
    ['drops-id-zero', 'ids', 'the id 0: got no response', 'never test an id for truthiness'],
    [
      'answers-notifications',
      'cancellation',
      'the server responds to a notification',
      'Never respond to a message without an id',
    ],
    ['no-ping', 'ping', 'ping: got error -32601', 'Answer "ping"'],
  ] as const

  test.each(broken)('%s fails at "%s"', async (name, step, message, advice) => {
    const checked = await checkFixture(`broken/${name}.js`)
    expect([checked.code, checked.passed]).toEqual([5, false])
    const [first] = wrong(checked, step)
    expect(first).toEqual({
      status: 'fail',
      message: expect.stringContaining(message),
      advice: expect.stringContaining(advice),
    })
  })

  test('a process that stays when its stdin ends gets a warning', async () => {
    const checked = await checkFixture('broken/ignores-end.js')
    expect(checked.code).toBe(0)
    const { status, findings } = checked.steps.at(-1) ?? {}
    expect([status, findings?.[0]?.message]).toEqual([
      'warn',
      expect.stringMatching(/still running/),
    ])
  })

  test('behavior that no rule forbids is no failure', async () => {
    const checked = await checkFixture('broken/lenient.js')
    expect([checked.code, failing(checked)]).toEqual([0, []])
    const found = (status: string) =>
      checked.steps.flatMap(({ findings }) =>
        findings.filter(each => each.status === status).map(({ message }) => message),
      )
    expect(found('ok')).toEqual(
      expect.arrayContaining([
        'an unknown tool: got error -32603 "no such tool"',
        'broken JSON: got error -32700 "Parse error"',
      ]),
    )
    expect(found('warn')).toEqual([
      expect.stringContaining('resources/list fails: got error -32603 "connect ECONNREFUSED'),
      expect.stringContaining('tools/call without a name: got a result'),
    ])
  })

  test('a program that ends at once fails for one reason', async () => {
    const checked = await checkFixture('broken/exits-early.js')
    expect(failing(checked)).toEqual(['handshake'])
    expect(wrong(checked, 'handshake')).toHaveLength(1)
  })

  test('an ignored step does not count', async () => {
    const command = ['--', process.execPath, fixture('broken/no-ping.js')]
    const checked = await check('--ignore', 'ping', ...command)
    expect([checked.code, checked.passed, failing(checked)]).toEqual([0, true, ['ping']])
    const { stdout } = await trunkline(['check', '--ignore', 'ping', ...command])
    expect(stdout).toMatch(/^ign {3}ping /m)
    const unknown = await trunkline(['check', '--ignore', 'pong', ...command])
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('did you mean "ping"?'),
    ])
  })

  test('names every invalid schema', async () => {
    const checked = await checkFixture('broken/invalid-schema.js')
    expect(failing(checked)).toEqual(['schemas'])
    const seen = wrong(checked, 'schemas').map(({ message }) => message)
    expect(seen).toEqual([
      expect.stringContaining('"texts" has the type "string"'),
      expect.stringContaining('"types" is not a valid schema'),
      expect.stringContaining('"none" is missing'),
      expect.stringContaining('"header" cannot be used over HTTP'),
    ])
    const { findings = [] } = checked.steps.find(({ step }) => step === 'schemas') ?? {}
    expect(findings.filter(({ status }) => status === 'warn')).toEqual([
      {
        status: 'warn',
        message:
          'the inputSchema of "choice" has an empty enum at #/properties/a/enum, which no value matches',
        advice: 'List at least one value, or leave the enum out.',
      },
    ])
  })

  test('skips the remaining steps after the server has exited', async () => {
    const checked = await checkFixture('broken/dies-on-malformed.js')
    expect(failing(checked)).toEqual(['malformed'])
    const untried = checked.steps.filter(({ tried }) => !tried).map(({ step }) => step)
    expect(untried).toEqual(['ids', 'cancellation', 'ping', 'shutdown'])
  })

  test('a program that does not exist fails at "reach", and the other steps are skipped', async () => {
    const checked = await check('--', 'trunkline-no-such-program')
    expect(failing(checked)).toEqual(['reach'])
    expect(wrong(checked, 'reach')[0]?.advice).toContain('found in PATH')
    expect(checked.steps.find(({ step }) => step === 'lists')?.tried).toBe(false)
  })

  const right = [
    ['ours', everythingServer],
    ['one written by hand', 'broken/right.js'],
    ['one made with SDK 1', '../mcp-interop/server-sdk1.js'],
    ['one made with SDK 2', '../mcp-interop/server-sdk2.js'],
  ] as const

  test.each(right)('%s passes', async (_, path) => {
    const checked = await checkFixture(path)
    expect(
      checked.steps.flatMap(({ findings }) => findings).filter(({ status }) => status === 'fail'),
    ).toEqual([])
    expect([checked.code, checked.passed]).toEqual([0, true])
  })

  const official = [
    ['SDK 1', ['../mcp-interop/server-sdk1.js'], 5],
    ['SDK 2', ['../mcp-interop/server-sdk2.js'], 3],
    [
      'server-everything',
      [
        '../../third-party/node_modules/@modelcontextprotocol/server-everything/dist/index.js',
        'stdio',
      ],
      5,
    ],
  ] as const

  test.each(official)(
    'folds the habits of %s, and warns of nothing else',
    async (_, [path, ...args], points) => {
      const { steps, officialSdkHabits } = await checkFixture(path, ...args)
      expect(officialSdkHabits).toBe(points)
      const bad = steps.filter(({ status }) => status === 'warn' || status === 'fail')
      expect(bad).toEqual([])
    },
  )

  test('prints the habits of the official SDK as one line, and with -v each', async () => {
    const file = fixture('../mcp-interop/server-sdk1.js')
    const command = ['--timeout', '20s', '--', process.execPath, file]
    const [short, verbose] = await Promise.all([
      trunkline(['check', ...command]),
      trunkline(['check', '-v', ...command]),
    ])
    expect(short.stdout).toContain('\nas the official SDK does, 5 points: -v\n')
    expect(verbose.stdout).toContain('warn: a made-up cursor is accepted')
  })

  test('ours passes without warnings, in both eras', async () => {
    const { steps } = await checkFixture(everythingServer)
    expect(steps.filter(({ status }) => status === 'warn')).toEqual([])
    const { findings = [] } = steps.find(({ step }) => step === 'handshake') ?? {}
    expect(findings.map(({ message }) => message)).toEqual([
      'initialize: everything 1.0.0, revision 2025-11-25',
      'server/discover: everything 1.0.0, revision 2026-07-28',
    ])
  })

  test('calls only the tool that is named', async () => {
    const command = ['--', process.execPath, fixture('../fixtures/everything-stdio.js')]
    const args = ['--call', 'test_structured_content', '--args', '{"a":1,"b":2}']
    const checked = await check(...args, ...command)
    expect(checked.steps.at(-1)).toMatchObject({ step: 'call', status: 'ok' })
    const failed = await check('--call', 'test_error_handling', ...command)
    expect([failed.code, failing(failed)]).toEqual([5, ['call']])
  })

  test('prints each step, with advice', async () => {
    const file = fixture('broken/duplicate-tools.js')
    const { code, stdout, stderr } = await trunkline(['check', '--', process.execPath, file])
    expect([code, stderr]).toEqual([5, ''])
    expect(stdout).toMatch(/^ok {4}reach {9}".*" starts$/m)
    expect(stdout).toMatch(
      /^fail {2}lists {9}tools\/list lists "hello" twice\n {20}→ Give each entry/m,
    )
    expect(stdout).toMatch(/^Check failed: \d+ ok, 0 with warnings, 1 failed/m)
    expect(stdout).not.toContain('\u001b')
  })
})

describe.concurrent('trunkline check over the network', () => {
  async function broken(mode: string): Promise<string> {
    const child = spawn(process.execPath, [fixture('broken/http.js'), mode])
    started.push(child)
    const [line] = await once(createInterface({ input: child.stdout }), 'line')
    return line
  }

  test('a server that supports only HTTP+SSE gets a warning, and every step runs', async () => {
    const server = new Server({ name: 'old', version: '1' })
    server.tool('hello', { description: 'Says hello' }, () => 'hello')
    await using listener = await listen(server, 'http://127.0.0.1:0/mcp')
    const checked = await check(listener.address.replace('/mcp', '/sse'))
    expect([checked.code, failing(checked)]).toEqual([0, []])
    const warned = checked.steps.filter(({ status }) => status === 'warn').map(({ step }) => step)
    expect(warned).toEqual(['http'])
    expect(checked.steps.every(({ tried }) => tried)).toBe(true)
    expect(checked.steps.find(({ step }) => step === 'lists')?.status).toBe('ok')
  })

  test('a wrong path fails at "http", not later', async () => {
    const server = new Server({ name: 'a', version: '1' })
    await using listener = await listen(server, 'http://127.0.0.1:0/mcp')
    const checked = await check(listener.address.replace('/mcp', '/other'))
    expect(failing(checked)).toEqual(['http'])
    expect(wrong(checked, 'http')[0]?.advice).toContain('Most servers use /mcp')
  })

  const modes = [
    ['fails', '500, text/plain', 'its log says why'],
    ['page', '200, text/html', 'A response to POST must be application/json or text/event-stream'],
    ['wrong-type', '200, text/plain', 'Content-Type'],
    ['nowhere', '404, text/html', 'There is no MCP endpoint at this path'],
    [
      'open',
      'with the Origin http://evil.example is accepted',
      'any web page can call this server',
    ],
  ] as const

  test.each(modes)('a server in mode "%s" fails at "http"', async (mode, message, advice) => {
    const checked = await check(await broken(mode))
    expect([checked.code, failing(checked)]).toEqual([5, ['http']])
    expect(wrong(checked, 'http')[0]).toEqual({
      status: 'fail',
      message: expect.stringContaining(message),
      advice: expect.stringContaining(advice),
    })
  })

  test('a server that refuses without a challenge fails at "authorization" and "http"', async () => {
    const checked = await check(await broken('locked'))
    expect([checked.code, failing(checked)]).toEqual([5, ['authorization', 'http']])
    expect(wrong(checked, 'authorization')[0]?.advice).toContain('Add a challenge')
    expect(wrong(checked, 'http')[0]?.advice).toContain('--header "Authorization: Bearer …"')
  })

  test('a correct server over HTTP passes', async () => {
    const checked = await check(await broken('right'))
    expect([checked.code, failing(checked)]).toEqual([0, []])
  })

  test.each(['http://127.0.0.1:0/mcp', 'ws://127.0.0.1:0/mcp', 'tcp://127.0.0.1:0'])(
    'ours passes at %s',
    async address => {
      const server = new Server({ name: 'small', version: '1.0.0' })
      server.tool('hello', { description: 'Says hello' }, () => 'hello')
      const listener = await listen(server, address)
      try {
        const { code, steps } = await check(listener.address)
        expect(steps.filter(({ status }) => status === 'fail' || status === 'warn')).toEqual([])
        expect(code).toBe(0)
      } finally {
        await listener.close()
      }
    },
  )

  test('fails at "reach" if nothing is listening', async () => {
    const checked = await check('http://127.0.0.1:1/mcp')
    expect(failing(checked)).toEqual(['reach'])
    expect(wrong(checked, 'reach')[0]?.advice).toContain('Nothing is listening there')
  })

  test('a server that does not speak TLS fails at "tls"', async () => {
    const address = (await broken('right')).replace('http:', 'https:')
    expect(failing(await check('--timeout', '5s', address))).toEqual(['tls'])
  })
})
