import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Listener, listen, Server } from '../../src/index.ts'
import { Router } from '../../src/router/router.ts'
import { version } from '../../src/util/version.ts'
import { pollOptions } from '../support/poll-options.ts'
import { everything, fixture, trunkline } from './bin.ts'

let home: string
let listener: Listener
let address: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trunkline-cli-'))
  const server = new Server({ name: 'small', version: '2.0.0' })
  const input = {
    type: 'object',
    properties: {
      city: { type: 'string' },
      days: { type: 'integer' },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['city'],
  } as const
  server.tool('forecast', { description: 'Returns the forecast', input }, args =>
    JSON.stringify(args),
  )
  server.tool('ask', { description: 'Asks' }, async (_, ctx) => {
    const schema = { type: 'object', properties: { name: { type: 'string' } } } as const
    const answer = await ctx.elicit({ message: 'Who are you?', schema, onDecline: 'return' })
    return JSON.stringify(answer)
  })
  server.tool('hang', { description: 'Never ends' }, () => new Promise<string>(() => {}))
  server.tool('color', { description: 'Gives \u001b[31mred' }, () => 'a \u001b[31mred text')
  server.resource('page', 'test://page', { mimeType: 'text/plain' }, () => 'a page\n')
  server.prompt('greet', { description: 'Greets' }, () => 'Hello there')
  listener = await listen(server, 'http://127.0.0.1:0/mcp')
  address = listener.address
})

afterAll(async () => {
  await listener.close()
  await rm(home, { recursive: true, force: true })
})

describe('trunkline', () => {
  test('shows its version', async () => {
    expect(await trunkline(['--version'])).toMatchObject({
      code: 0,
      stdout: `${version}\n`,
      stderr: '',
    })
  })

  test('shows every command', async () => {
    const { code, stdout } = await trunkline(['help'])
    expect(code).toBe(0)
    for (const name of [
      'serve',
      'list',
      'call',
      'read',
      'prompt',
      'check',
      'bench',
      'completion',
    ]) {
      expect(stdout).toContain(`  ${name} `)
    }
  })

  test('without a command shows the help, with exit code 2', async () => {
    const { code, stdout, stderr } = await trunkline([])
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/^Usage: trunkline/)])
  })

  test('a usage error is printed to stderr, with exit code 2', async () => {
    const { code, stdout, stderr } = await trunkline(['list', '--jsno'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(
      'trunkline: unknown option --jsno for "trunkline list"; did you mean "--json"?',
    )
  })

  test('a failure with --json is a document on stdout', async () => {
    const { code, json, stderr } = await trunkline(['lsit', '--json'])
    expect([code, stderr]).toEqual([2, ''])
    expect(json().error).toMatchObject({ reason: 'usage', exitCode: 2 })
  })

  const unreachable = [
    ['an address where nothing listens', ['list', 'tcp://127.0.0.1:1'], 3],
    ['a program that does not exist', ['list', '--', 'trunkline-no-such-program'], 3],
    [
      'a server that stays silent',
      ['list', '--timeout', '300ms', '--', process.execPath, fixture('broken/never-answers.js')],
      4,
    ],
    ['a server that ends', ['list', '--', process.execPath, fixture('broken/exits-early.js')], 3],
  ] as const

  test.concurrent.each(unreachable)('%s has an exit code of its own', async (_, args, expected) => {
    const { code, stdout, stderr } = await trunkline(args)
    expect([code, stdout]).toEqual([expected, ''])
    expect(stderr).toMatch(/^trunkline: /)
  })
})

describe('trunkline list', () => {
  test('shows a server and its lists, without colors in a pipe', async () => {
    const { code, stdout, stderr } = await trunkline(['list', address])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('small 2.0.0\nrevision 2026-07-28, stateless era\n')
    expect(stdout).toContain(
      '  forecast(city: string, days?: integer, tags?: string[])\n      Returns the forecast\n',
    )
    expect(stdout).toContain('  test://page (text/plain)\n')
    expect(stdout).toContain('  greet()\n')
    expect(stdout).not.toContain('\u001b')
  })

  test('uses the given era', async () => {
    const { stdout } = await trunkline(['list', address, '--era', 'session'])
    expect(stdout).toContain('revision 2025-11-25, session era\n')
  })

  test('prints one JSON document', async () => {
    const { json, stderr } = await trunkline(['list', address, 'tools', '--json'])
    const { server, ...lists } = json()
    expect(stderr).toBe('')
    expect(server).toMatchObject({ name: 'small', revision: '2026-07-28', era: 'stateless' })
    expect(Object.keys(lists)).toEqual(['tools'])
    expect(lists.tools.map(({ name }: { name: string }) => name)).toContain('forecast')
  })

  test('shows unavailable servers of a router, with the reasons', async () => {
    const lost = { command: process.execPath, args: ['-e', 'process.exit(3)'] }
    const servers = { small: { url: address, tools: { allow: ['ask'] } }, lost }
    await using router = new Router({ servers, onError: () => {} })
    await using listening = await listen(router, 'http://127.0.0.1:0/mcp')
    await router.ready()
    const { code, stdout } = await trunkline(['list', listening.address])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Unavailable \(1\)\n {2}lost\n {6}it \S+/m)
    for (const era of ['session', 'stateless']) {
      const { json } = await trunkline(['list', listening.address, 'tools', '--json', '--era', era])
      const { server: _, ...lists } = json()
      expect(Object.keys(lists)).toEqual(['tools', 'unavailable'])
      expect(lists.unavailable).toEqual({ lost: expect.stringMatching(/^it /) })
    }
  })

  describe('with a list that fails', () => {
    const partial = ['--', process.execPath, fixture('broken/lists.js'), 'resources,templates']
    const without = ['--', process.execPath, fixture('broken/lists.js'), 'tools,templates']

    test('shows the others and one line for it, and succeeds if the tools came', async () => {
      const { code, stdout, stderr } = await trunkline(['list', ...partial])
      expect(stdout).toContain('Tools (1)\n  only()\n')
      expect(stdout).toContain('Prompts (1)')
      expect([code, stderr]).toEqual([
        0,
        'resources: no resources today\ntemplates: no templates today\n',
      ])
      const { code: jsonCode, json } = await trunkline(['list', '--json', ...partial])
      expect([jsonCode, json().failed]).toEqual([
        0,
        { resources: 'no resources today', templates: 'no templates today' },
      ])
    })

    test('fails if it was requested, or if it is that of the tools', async () => {
      expect((await trunkline(['list', 'resources', ...partial])).code).toBe(1)
      expect((await trunkline(['list', 'tools', 'prompts', ...partial])).code).toBe(0)
      const { code, stdout, stderr } = await trunkline(['list', ...without])
      expect(stdout).toContain('Resources (1)')
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^tools: no tools today\n/)])
    })
  })

  test('takes the target and what to list in either order', async () => {
    const one = await trunkline(['list', address, 'tools'])
    const other = await trunkline(['list', 'tools', address])
    expect(other).toMatchObject({ code: 0, stdout: one.stdout, stderr: '' })
  })

  test('starts the program after the dashes', async () => {
    const { code, stdout } = await trunkline(['list', 'prompts', ...everything])
    expect(code).toBe(0)
    expect(stdout).toContain('test_prompt_with_arguments(arg1, arg2)')
    expect(stdout).not.toContain('Tools')
  })

  test('finds a server by its name in the configuration', async () => {
    const mcpServers = { small: { url: address }, other: { command: 'true' } }
    await writeFile(join(home, 'trunkline.json'), JSON.stringify({ mcpServers }))
    expect((await trunkline(['list', 'small'], { cwd: home })).stdout).toContain('small 2.0.0')
    const wrong = await trunkline(['list', 'smal'], { cwd: home })
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('did you mean "small"?'),
    ])
    const names = await trunkline(['completion', 'servers'], { cwd: home })
    expect(names.stdout).toBe('small\nother\n')
  })

  test('completion names the tools of an address, and of a server behind the running router', async () => {
    // Polled, because a busy machine may not answer within the limit of a completion.
    const tools = async (target: string, cwd = home) =>
      (await trunkline(['completion', 'tools', target], { cwd })).stdout
    await expect.poll(() => tools(address), pollOptions).toBe('forecast\nask\nhang\ncolor\n')
    const servers = { small: { url: address } }
    await using router = new Router({ servers, onError: () => {} })
    await using listening = await listen(router, 'http://127.0.0.1:0/mcp')
    await router.ready()
    const mcpServers = { small: { command: 'no-such-program' } }
    const folder = await mkdtemp(join(home, 'running-'))
    const config = JSON.stringify({ listen: listening.address, mcpServers })
    await writeFile(join(folder, 'trunkline.json'), config)
    await expect
      .poll(() => tools('small', folder), pollOptions)
      .toBe('forecast\nask\nhang\ncolor\n')
    const nobody = await trunkline(['completion', 'tools', 'tcp://127.0.0.1:1'])
    expect(nobody).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  test('completion leaves out names that a shell would expand', async () => {
    const server = new Server({ name: 'odd', version: '1' }, { onError: () => {} })
    for (const name of ['$(touch owned)', 'a`b`', 'plain_name']) server.tool(name, {}, () => '')
    await using odd = await listen(server, 'tcp://127.0.0.1:0')
    const tools = async () => (await trunkline(['completion', 'tools', odd.address])).stdout
    await expect.poll(tools, pollOptions).toBe('plain_name\n')
  })

  test('shows every message on stderr when asked to', async () => {
    const { stderr } = await trunkline(['list', address, '--verbose'])
    expect(stderr).toMatch(/^-> .*"server\/discover"/m)
    expect(stderr).toMatch(/^<- .*"supportedVersions"/m)
  })
})

describe('trunkline call', () => {
  const calls = [
    ['names and values', ['city=Oslo', 'days=3'], { city: 'Oslo', days: 3 }],
    ['a number as text', ['city=5'], { city: '5' }],
    ['JSON', ['city:="Oslo"', 'days:=3'], { city: 'Oslo', days: 3 }],
    ['a name given twice', ['city=x', 'tags=a', 'tags=b'], { city: 'x', tags: ['a', 'b'] }],
    ['flags', ['--city', 'Oslo', '--days=3'], { city: 'Oslo', days: 3 }],
    ['a JSON operand', ['{"city":"Oslo"}', '--days', '3'], { city: 'Oslo', days: 3 }],
    ['an object', ['--args', '{"city":"Oslo"}', 'days=2'], { city: 'Oslo', days: 2 }],
  ] as const

  test.concurrent.each(calls)('takes %s', async (_, args, expected) => {
    const { code, stdout } = await trunkline(['call', address, 'forecast', ...args])
    expect([code, JSON.parse(stdout)]).toEqual([0, expected])
  })

  test.each([[['-']], [['--args', '-']]])('reads arguments from stdin with %j', async args => {
    const ran = await trunkline(['call', address, 'forecast', ...args], {
      input: '{"city":"Bergen"}',
    })
    expect(ran.stdout).toBe('{"city":"Bergen"}\n')
  })

  test('reads arguments from a file', async () => {
    const file = join(home, 'args.json')
    await writeFile(file, '{"city":"Tromsø"}')
    const { stdout } = await trunkline(['call', address, 'forecast', '--args', `@${file}`])
    expect(stdout).toBe('{"city":"Tromsø"}\n')
  })

  test('names the argument with the wrong type', async () => {
    const { code, stderr } = await trunkline(['call', address, 'forecast', 'city=x', 'days=many'])
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('"days" must be of type integer (got "many")'),
    ])
  })

  test('a tool error is printed to stderr, with exit code 1', async () => {
    const { code, stdout, stderr } = await trunkline(['call', 'test_error_handling', ...everything])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('tool error: This tool intentionally returns an error')
  })

  test('suggests the closest name for an unknown tool', async () => {
    const { code, stderr } = await trunkline(['call', address, 'forcast'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('did you mean "forecast"?')])
  })

  test('notes an unknown argument', async () => {
    const { code, stdout, stderr } = await trunkline([
      'call',
      address,
      'forecast',
      'city=x',
      'dais=3',
    ])
    expect([code, stdout]).toEqual([0, '{"city":"x","dais":"3"}\n'])
    expect(stderr).toBe('the tool has no argument "dais"; did you mean "days"?\n')
  })

  test('suggests no other tool if a server is unavailable', async () => {
    const lost = { command: process.execPath, args: ['-e', 'process.exit(3)'] }
    const servers = { small: { url: address, tools: { allow: ['ask'] } }, lost }
    await using router = new Router({ servers, onError: () => {} })
    await using listening = await listen(router, 'http://127.0.0.1:0/mcp')
    await router.ready()
    const { code, stderr } = await trunkline(['call', listening.address, 'lost__ask'])
    expect(code).toBe(1)
    expect(stderr).toContain('The server "lost" is not available: ')
    expect(stderr).not.toContain('did you mean')
  })

  test('names the tool that does not exist once, and does not list all others', async () => {
    const { code, stderr } = await trunkline(['call', address, 'nothing-like-it'])
    expect([code, stderr]).toEqual([
      1,
      'the server lists no tool "nothing-like-it"; it has 4 tools, "trunkline list" shows them\n' +
        'trunkline: Tool not found: nothing-like-it (-32602)\n',
    ])
    const verbose = await trunkline(['call', address, 'nothing-like-it', '-v'])
    expect(verbose.stderr).toContain('its tools are forecast, ask, hang, color\n')
  })

  test('finds the tool behind a router that ends in what was typed', async () => {
    await using router = new Router({ servers: { small: { url: address } }, onError: () => {} })
    await using listening = await listen(router, 'http://127.0.0.1:0/mcp')
    const { stderr } = await trunkline(['call', listening.address, 'forecast', 'city=x'])
    expect(stderr).toContain('did you mean "small__forecast"?')
  })

  test('rejects a flag that neither the command nor the tool has', async () => {
    const { code, stderr } = await trunkline(['call', address, 'forecast', '--timout', '5s'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean "timeout"?')])
    const other = await trunkline(['call', address, 'forecast', '--town', 'Oslo'])
    expect(other.stderr).toContain('its arguments are city, days, tags')
  })

  test('shows progress as lines where there is no terminal', async () => {
    const { stdout, stderr } = await trunkline(['call', 'test_tool_with_progress', ...everything])
    expect(stdout).toBe('Tool with progress executed successfully\n')
    expect(stderr).toContain('test_tool_with_progress: 50% 50/100 Half done\n')
    const quiet = await trunkline(['call', 'test_tool_with_progress', '-q', ...everything])
    expect(quiet.stderr).toBe('')
  })

  test('describes content that is not text, and prints the raw result with --json', async () => {
    const { stdout } = await trunkline(['call', 'test_image_content', ...everything])
    expect(stdout).toBe('[image image/png, 70 B]\n')
    const { json } = await trunkline(['call', 'test_image_content', '--json', ...everything])
    expect(json().content[0]).toMatchObject({ type: 'image', mimeType: 'image/png' })
  })

  test.each(['session', 'stateless'])('declines elicitation without a terminal: %s', async era => {
    const { code, stdout, stderr } = await trunkline(['call', address, 'ask', '--era', era])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ action: 'decline' })
    expect(stderr).toBe('declined, because there is no terminal: "Who are you?"\n')
  })

  test('gives up after --timeout, and says what took too long', async () => {
    const { code, stderr } = await trunkline(['call', address, 'hang', '--timeout', '3s'])
    expect(code).toBe(4)
    expect(stderr).toContain('tools/call "hang": no response within 3000 ms')
    expect(stderr).toContain('to wait longer, use --timeout')
  })

  test('writes the text of a tool unchanged to a pipe', async () => {
    expect((await trunkline(['call', address, 'color'])).stdout).toBe('a \u001b[31mred text\n')
  })
})

describe('trunkline read and prompt', () => {
  test('a resource is printed, as text or as JSON', async () => {
    const { code, stdout } = await trunkline(['read', address, 'test://page'])
    expect([code, stdout]).toEqual([0, 'a page\n'])
    const { json } = await trunkline(['read', address, 'test://page', '--json'])
    expect(json().contents).toEqual([
      { uri: 'test://page', mimeType: 'text/plain', text: 'a page\n' },
    ])
  })

  test('a resource that does not exist is an error of the server', async () => {
    const { code, json } = await trunkline(['read', address, 'test://none', '--json'])
    expect([code, json().error]).toEqual([
      1,
      expect.objectContaining({ code: -32602, exitCode: 1 }),
    ])
  })

  test.each([
    ['read', 'x://y', 'resources'],
    ['prompt', 'greet', 'prompts'],
  ])('%s notes that the server has none', async (command, what, kind) => {
    await using none = await listen(new Server({ name: 'none', version: '1' }), 'tcp://127.0.0.1:0')
    const { code, stderr } = await trunkline([command, none.address, what])
    expect([code, stderr]).toEqual([1, expect.stringContaining(`the server has no ${kind}`)])
  })

  test('writes binary data to a file', async () => {
    const file = join(home, 'picture.png')
    const { code, stdout, stderr } = await trunkline([
      'read',
      'test://static-binary',
      '-o',
      file,
      ...everything,
    ])
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toContain(`wrote 70 B to ${file}`)
    expect((await readFile(file)).subarray(1, 4).toString()).toBe('PNG')
  })

  test('gets a prompt with arguments', async () => {
    const { stdout } = await trunkline([
      'prompt',
      'test_prompt_with_arguments',
      'arg1=a',
      'arg2=b',
      ...everything,
    ])
    expect(stdout).toBe("user: Prompt with arguments: arg1='a', arg2='b'\n")
    const { json } = await trunkline(['prompt', address, 'greet', '--json'])
    expect(json().messages[0].content.text).toBe('Hello there')
  })
})

describe('trunkline bench', () => {
  test('measures calls of a tool', async () => {
    const args = [
      'bench',
      address,
      '--tool',
      'forecast',
      '--args',
      '{"city":"x"}',
      '--seconds',
      '0.2',
    ]
    const { code, json } = await trunkline([...args, '--json', '--concurrency', '2'])
    const result = json()
    expect(code).toBe(0)
    expect(result).toMatchObject({ what: 'tools/call forecast', concurrency: 2, errors: 0 })
    expect(result.calls).toBeGreaterThan(0)
    expect(result.p50).toBeLessThanOrEqual(result.p99)
  })

  test('measures ping, and explains the numbers', async () => {
    const { code, stdout } = await trunkline([
      'bench',
      address,
      '--era',
      'session',
      '--seconds',
      '0.2',
      '-q',
    ])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ping, 8 at a time on one connection\n {2}\d+ calls\/s/)
    expect(stdout).toContain('is not counted')
  })

  test('does not measure what fails', async () => {
    const { code, stderr } = await trunkline([
      'bench',
      address,
      '--tool',
      'none',
      '--seconds',
      '0.2',
    ])
    expect([code, stderr]).toEqual([1, expect.stringContaining('there is nothing to measure')])
  })
})
