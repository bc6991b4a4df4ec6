import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { natsProgram, natsServer } from '../scripts/nats-server.js'
import { connect, listen, Server } from '../src/index.ts'
import { files, read, root } from './sources.ts'

const exec = promisify(execFile)

/** Arguments for examples that otherwise run until a signal. */
const argumentsOf: Readonly<Record<string, string[]>> = { 'demo.js': ['--once'] }

/** Command-line tools, which have separate tests below. */
const tools = ['call.js', 'call-tool.js']

const hasGit = spawnSync('git', ['--version']).status === 0
const isServer = (name: string) => name.endsWith('-server.js')
const programsIn = (folder: string) => readdirSync(join(root, folder)).filter(isProgram)
const isProgram = (name: string) => name.endsWith('.js')
const everyday = programsIn('examples/everyday').map(name => `everyday/${name}`)
const all = [...programsIn('examples'), ...everyday]
const servers = all.filter(isServer)
const programs = all.filter(name => !isServer(name) && !tools.includes(name))

// Several at a time, because a program mostly starts and waits.
test.concurrent.each(programs.filter(name => hasGit || name !== 'git-client.js'))(
  'examples/%s runs and checks itself',
  async name => {
    await run(join('examples', name), ...(argumentsOf[name] ?? []))
  },
)

test.runIf(natsProgram !== undefined)('examples/backplane.js also runs in NATS', async () => {
  await using server = await natsServer()
  await run('examples/backplane.js', `nats://127.0.0.1:${server.port}`)
})

test.each(servers)('examples/%s is used by another example', server => {
  const others = programs.filter(name => read(`examples/${name}`).includes(`'${server}'`))
  expect(others).not.toEqual([])
})

test('examples/README.md lists all examples', () => {
  const listed = Array.from(
    read('examples/README.md').matchAll(/\(((?:everyday\/)?[\w-]+\.js)\)/g),
    at => at[1],
  )
  expect(listed.sort()).toEqual([...all].sort())
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

  test('prints its usage when called without a method', async () => {
    const failure = await call('tcp://127.0.0.1:1').catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 2, stderr: expect.stringContaining('usage:') })
  })
})

describe('examples/call-tool.js', () => {
  const server = new Server({ name: 'adder', version: '1.0.0' })
  const number = { type: 'number' } as const
  const input = {
    type: 'object',
    properties: { a: number, b: number },
    required: ['a', 'b'],
  } as const
  server.tool('add', { description: 'Adds', input }, ({ a, b }) => a + b)
  server.tool('greet', {}, async (_, ctx) => {
    const schema = { type: 'object', properties: { name: { type: 'string' } } } as const
    const { name } = await ctx.elicit({ message: 'Who?', schema })
    return `Hello, ${name}`
  })

  const callTool = async (...args: string[]) => {
    const listener = await listen(server, 'tcp://127.0.0.1:0')
    const child = exec(process.execPath, ['examples/call-tool.js', listener.address, ...args], {
      cwd: root,
    })
    child.child.stdin?.end('Ada\n')
    return child.catch((error: unknown) => error).finally(() => listener.close())
  }

  test.each([
    ['lists the tools', [], /^adder 1\.0\.0, revision \S+\n {2}add +Adds\n {2}greet +\n$/],
    ['calls one of them', ['add', '{"a":1,"b":2}'], /^3\n$/],
    ['asks at the terminal what the server asks', ['greet'], /^Hello, Ada\n$/],
  ])('%s', async (_name, args, stdout) => {
    expect(await callTool(...args)).toMatchObject({ stdout: expect.stringMatching(stdout) })
  })

  test.each([
    ['a tool that fails', ['add'], { code: 1, stdout: expect.stringContaining('is required') }],
    [
      'a tool that is not there',
      ['fly'],
      { code: 1, stderr: 'RpcError -32602: Tool not found: fly\n' },
    ],
  ])('shows %s and exits with 1', async (_name, args, shown) => {
    expect(await callTool(...args)).toMatchObject(shown)
  })

  test('prints its usage when called without an address', async () => {
    const failure = await run('examples/call-tool.js').catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 2, stderr: expect.stringContaining('usage:') })
  })
})

describe('npm start', () => {
  test('serves without a terminal and stops cleanly on a signal', async () => {
    const args = ['scripts/start.js', '--listen', 'http://127.0.0.1:0/mcp']
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    let printed = ''
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      printed += chunk
      if (printed.includes('curl')) break
    }
    // The command that it prints for pasting works.
    const [, file = '', address = ''] = /node (\S+) call (\S+) text__count/.exec(printed) ?? []
    try {
      expect(file, printed).toBe('dist/cli/main.js')
      const { stdout } = await run(file, 'call', address, 'text__count', 'text=one two three')
      expect(stdout).toMatch(/^3 words/)
    } finally {
      child.kill('SIGTERM')
    }
    if (child.exitCode === null) await once(child, 'exit')
    expect(child.exitCode).toBe(0)
  })

  test('is not the only demo: hosts can use one server on several transports', async () => {
    const client = await connect({
      command: process.execPath,
      args: ['examples/demo.js', '--stdio'],
    })
    const answer = await client.call('sum', { numbers: [1, 2, 4] })
    await client.close()
    expect(answer.structured).toEqual({ sum: 7 })
  })
})

const pages = [
  'README.md',
  ...['servers', 'clients', 'http', 'router-api', 'backplane', 'observe', 'testing'].map(
    name => `docs/${name}.md`,
  ),
]

test.concurrent.each(pages)(
  'the code in %s is one program that prints what its comments say',
  async path => {
    const blocks = read(path).matchAll(/^```js\n(.*?)^```/gms)
    const page = Array.from(blocks, block => block[1]).join('\n')
    // The port on the page is an example; the test uses a free one.
    const program = page.replaceAll(':4000', `:${await freePort()}`)
    const expected = Array.from(
      program.matchAll(/^ *console\.log\(.*\) \/\/ (.*)$/gm),
      line => line[1],
    )
    expect(expected.length).toBeGreaterThan(0)
    const folder = join(root, '.cache')
    mkdirSync(folder, { recursive: true })
    const file = join(folder, `${path.replaceAll(/\W/g, '-')}.${process.pid}.mjs`)
    writeFileSync(file, program)
    const { stdout } = await run(file).finally(() => rmSync(file))
    expect(stdout.trimEnd().split('\n')).toEqual(expected)
  },
)

test('code in the documentation that names an example is part of it', () => {
  const named = files('docs')
    .filter(name => name.endsWith('.md'))
    .flatMap(name => [...read(`docs/${name}`).matchAll(/^```js (\S+)\n(.*?)^```/gms)])
  expect(named.length).toBeGreaterThan(0)
  for (const [, example = '', code = ''] of named) expect(read(example)).toContain(code)
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
  return exec(process.execPath, [file, ...args], { cwd: root })
}
