import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { UsageError } from '../../src/cli/exit.ts'
import { urlProblem } from '../../src/cli/input/prompts.ts'
import { planOf } from '../../src/cli/up/plan.ts'
import { connect } from '../../src/connect.ts'
import { nodeHandler } from '../../src/http/handlers.ts'
import { listen } from '../../src/listen.ts'
import { observe } from '../../src/observe/index.ts'
import {
  ConfigError,
  type Router,
  readConfig,
  type UpstreamOptions,
} from '../../src/router/index.ts'
import { Server } from '../../src/server/server.ts'
import { trunkline } from '../cli/bin.ts'
import { type Asking, ask, type Headers, Wire, written } from '../http/raw.ts'
import { calling, inSession, opening, speaking } from '../http/requests.ts'
import { descendants } from '../support/processes.ts'
import { worker } from './ledger.ts'
import { caller, routed } from './routed.ts'
import { up } from './up.ts'

interface Edge {
  readonly router: Router
  readonly port: number
  ask(asking: Asking): ReturnType<typeof ask>
}

/** A router as `trunkline up` serves it: with metrics and health at the same address. */
async function edge(servers: Readonly<Record<string, UpstreamOptions>>): Promise<Edge> {
  const router = await routed(servers)
  const observer = observe({ endpoint: router, metrics: true })
  onTestFinished(() => observer.close())
  const ops = observer.ops
  const listener = await listen(router, 'http://127.0.0.1:0/mcp', { ops, onError: () => {} })
  onTestFinished(() => listener.close())
  const port = Number(new URL(listener.address).port)
  return { router, port, ask: asking => ask(port, written(port, asking)) }
}

const entryPoints: Readonly<Record<string, Asking>> = {
  'a stateless POST': speaking('tools/list'),
  'a POST that opens a session': opening(),
  'the stream of a session': { method: 'GET', headers: { 'mcp-session-id': 'x' } },
  'the end of a session': { method: 'DELETE', headers: { 'mcp-session-id': 'x' } },
  'the stream of the oldest revision': { method: 'GET', path: '/sse' },
  'a message of the oldest revision': { path: '/messages?sessionId=x', body: '{}' },
  'a preflight request of a browser': { method: 'OPTIONS' },
  metrics: { method: 'GET', path: '/metrics' },
  liveness: { method: 'GET', path: '/healthz' },
  readiness: { method: 'GET', path: '/readyz' },
  'a WebSocket': {
    method: 'GET',
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
  },
}

const foreign: readonly (readonly [string, (port: number) => Headers])[] = [
  ['another host', () => ({ host: 'evil.test' })],
  ['our address as a part of another name', port => ({ host: `127.0.0.1.evil.test:${port}` })],
  ['a dot behind the host', port => ({ host: `localhost.:${port}` })],
  ['another port', port => ({ host: `localhost:${port + 1}` })],
  ['a path in the host', port => ({ host: `localhost:${port}/?x=` })],
  ['a fragment in the host', port => ({ host: `localhost:${port}/#` })],
  ['a user in the host', port => ({ host: `me@localhost:${port}` })],
  ['another origin', () => ({ origin: 'https://evil.test' })],
  ['no origin in particular', () => ({ origin: 'null' })],
]

describe('SEC-21: what comes over HTTP starts no program', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-sec-'))
  const mark = join(folder, 'mark')
  const program = { command: 'touch', args: [mark], env: { A: 'b' } }
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('whatever is posted to any path', async () => {
    const { ask: asked } = await edge({ work: worker() })
    const before = descendants(process.pid)
    const paths = [
      ...['/mcp', '/sse', '/messages', '/messages?sessionId=x', '/metrics', '/healthz', '/readyz'],
      ...['/', '/servers', '/api/servers', '/config', '/connect', '/stdio', '/admin', '/register'],
      ...['/mcp/servers', '/mcp?transportType=stdio&command=touch', '/stdio?command=touch'],
    ]
    const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
    const bodies = [
      program,
      { mcpServers: { x: program } },
      { servers: { x: program } },
      rpc('servers/add', { name: 'x', ...program }),
      rpc('router/update', { servers: { x: program } }),
    ]
    for (const path of paths) {
      for (const method of ['POST', 'PUT', 'PATCH']) {
        for (const body of bodies) {
          const { status } = await asked({ method, path, body: JSON.stringify(body) })
          expect([method, path, status >= 400 && status < 500]).toEqual([method, path, true])
        }
      }
    }
    const all = [...before].sort()
    expect([...descendants(process.pid)].sort()).toEqual(all)
    expect(existsSync(mark)).toBe(false)
  })

  test('neither do unknown methods, nor what callers declare about themselves', async () => {
    const { ask: asked, router } = await edge({ work: worker() })
    const before = descendants(process.pid)
    const methods = ['servers/add', 'router/register', 'config/set', 'tools/register', 'spawn']
    for (const method of methods) {
      const { json } = await asked(speaking(method, { ...program, servers: { x: program } }))
      expect([method, json.error.code]).toEqual([method, -32601])
    }
    const opened = await asked({
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', clientInfo: program, ...program },
      }),
    })
    expect([200, 400]).toContain(opened.status)
    const meta = { servers: { x: program }, 'trunkline/servers': { x: program } }
    const { status } = await asked(speaking('tools/list', { ...program }, { meta }))
    expect(status).toBe(200)
    expect(router.servers().map(({ name }) => name)).toEqual(['work'])
    expect([...descendants(process.pid)].sort()).toEqual([...before].sort())
    expect(existsSync(mark)).toBe(false)
  })

  test('only these files start programs, none of them a part of what serves, and without a shell', () => {
    const sources = sourcesIn(fileURLToPath(new URL('../../src', import.meta.url)))
    const starters = sources.filter(({ text }) => /from 'node:child_process'/.test(text))
    expect(starters.map(({ name }) => name).sort()).toEqual([
      'auth/client/login/node-browser.ts',
      'cli/check/wire/child-wire.ts',
      'cli/commands/serve.ts',
      'transport/process/child.ts',
      'transport/process/process-tree.ts',
    ])
    // A database executes statements of SQL, not programs.
    const viaShell = /shell:\s*true|\bexecSync\(|(?<!\bdatabase\.)\bexec\(['"`]/
    for (const { name, text } of sources) {
      expect([name, viaShell.test(text)]).toEqual([name, false])
    }
  })
})

interface Source {
  readonly name: string
  readonly text: string
}

function sourcesIn(root: string, folder = ''): readonly Source[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) return sourcesIn(root, name)
    if (!name.endsWith('.ts') || name.endsWith('.test.ts')) return []
    return [{ name, text: readFileSync(join(root, name), 'utf8') }]
  })
}

describe.each(Object.entries(entryPoints))(
  'SEC-22, SEC-27: an entry point of a router: %s',
  (_, entryPoint) => {
    test('rejects foreign origins and hosts', async () => {
      const { ask: asked, port } = await edge({})
      for (const [what, headers] of foreign) {
        const { status } = await asked({
          ...entryPoint,
          headers: { ...entryPoint.headers, ...headers(port) },
        })
        expect([what, status]).toEqual([what, 403])
      }
      const path = entryPoint.path ?? '/mcp'
      const absolute = await asked({ ...entryPoint, path: `http://evil.test${path}` })
      expect(absolute.status).toBe(403)
      const twice = { host: [`127.0.0.1:${port}`, 'evil.test'] }
      const { status } = await asked({
        ...entryPoint,
        headers: { ...entryPoint.headers, ...twice },
      })
      expect([400, 403]).toContain(status)
    })

    test('does not match a path that merely resembles its own', async () => {
      const { port } = await edge({})
      // Preflight requests of browsers get the same response at every path.
      const answers = entryPoint.method === 'OPTIONS' ? [204, 400, 404] : [400, 404]
      const path = entryPoint.path?.split('?')[0] ?? '/mcp'
      const alike = [
        `/${path}`,
        `${path}/`,
        `${path}%2f`,
        `/x/..${path}`,
        `/x/%2e%2e${path}`,
        `/x/%252e%252e${path}`,
        `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`,
        `${path}%00`,
        `${path};x`,
        path.toUpperCase(),
      ]
      for (const one of alike) {
        const wire = await Wire.open(port)
        const { status } = await wire.send(written(port, { ...entryPoint, path: one })).begin()
        wire.cut()
        expect([one, answers.includes(status)]).toEqual([one, true])
      }
    })
  },
)

describe('SEC-23, SEC-31: a router that other machines could reach', () => {
  const far = [
    'http://0.0.0.0:0/mcp',
    'http://[::]:0/mcp',
    'http://0:0/mcp',
    'http://192.0.2.1:3000/mcp',
    'http://router.example:3000/mcp',
    'http://127.0.0.1.evil.test:0/mcp',
    'ws://0.0.0.0:0/mcp',
    'tcp://0.0.0.0:0',
    'tcp://[::]:0',
  ]
  const near = ['http://127.0.0.1:0/mcp', 'http://localhost:0/mcp', 'tcp://[::1]:0', 'stdio:']
  const wishes = { listen: [], isPublic: false }
  const upstream = { url: 'https://api.example/mcp', headers: { authorization: 'Bearer s' } }
  const read = (config: object) =>
    readConfig(JSON.stringify({ servers: { api: upstream }, ...config }), { env: {}, file: 'x' })

  test.each(far)('is not served at %s, with an error code of its own', async address => {
    expect(() => planOf(read({ listen: address }), wishes)).toThrow(/other machines/)
    expect(() => planOf(read({}), { ...wishes, listen: [address] })).toThrow(UsageError)
    expect(planOf(read({ listen: address, public: true }), wishes).listen).toEqual([address])
  })

  test('is served at addresses of this machine, and at others only when that is allowed explicitly', () => {
    for (const address of near) {
      expect(planOf(read({ listen: address }), wishes).listen).toEqual([address])
    }
    const [only] = planOf(read({}), wishes).listen
    expect(new URL(only as string).hostname).toBe('127.0.0.1')
  })

  test('does not expose its metrics either', () => {
    const metrics = 'http://0.0.0.0:9464'
    expect(() => planOf(read({ metrics }), wishes)).toThrow(/other machines/)
    expect(() => planOf(read({}), { ...wishes, metrics })).toThrow(/without authentication/)
    expect(planOf(read({ metrics, public: true }), wishes).metrics).toBe(metrics)
  })

  test('exits with code 2 and an actionable message, and has started nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-far-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const demo = await trunkline(['up', '--listen', 'http://0.0.0.0:0/mcp'], { cwd: folder })
    expect([demo.code, demo.stdout]).toEqual([2, ''])
    expect(demo.stderr).toContain('--public')
  })
})

describe('SEC-24: what callers send beside their messages', () => {
  /** A server over HTTP that records the URL and headers of every request. */
  async function listening() {
    const server = new Server({ name: 'behind', version: '1' })
    server.tool('echo', {}, (_, ctx) => JSON.stringify(ctx.caller.principal ?? null))
    const handler = nodeHandler(server, { path: '/mcp' })
    const seen: string[] = []
    const http = createServer((request, response) => {
      seen.push(`${request.url} ${JSON.stringify(request.rawHeaders)}`)
      handler(request, response)
    })
    await new Promise<void>(resolve => void http.listen(0, '127.0.0.1', resolve))
    onTestFinished(async () => {
      await handler.close({ drainMs: 0 })
      http.closeAllConnections()
    })
    const { port } = http.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}/mcp`, seen }
  }

  test('is not forwarded and has no effect: 200 header names', async () => {
    const { url, seen } = await listening()
    const headers = { authorization: 'Bearer of-the-router' }
    const { ask: asked } = await edge({ behind: { url, headers } })
    const plain = (await asked(calling('behind__echo'))).json
    const names = [
      ...['authorization', 'cookie', 'proxy-authorization', 'forwarded', 'via', 'x-real-ip'],
      ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-user'],
      ...['x-mcp-api-key', 'mcp-session-id', 'x-api-key', 'x-internal-token', 'x-user', 'x-role'],
      ...['x-original-url', 'x-rewrite-url', 'x-http-method-override', 'x-trunkline-principal'],
      ...[
        'trunkline-server',
        'x-upstream',
        'x-target',
        'x-authority',
        'mcp-param-x',
        'last-event-id',
      ],
      ...['x-mcp-authorized', 'x-mcp-servername', 'x-mcp-toolname', 'x-envoy-original-path'],
    ]
    for (let number = names.length; number < 200; number++) names.push(`x-made-up-${number}`)
    for (const name of names) {
      const canary = `canary-${name}`
      const { json } = await asked(calling('behind__echo', {}, { headers: { [name]: canary } }))
      expect([name, json]).toEqual([name, plain])
    }
    expect(seen.length).toBeGreaterThanOrEqual(200)
    expect(seen.filter(request => request.includes('canary-'))).toEqual([])
    expect(seen.every(request => request.includes('Bearer of-the-router'))).toBe(true)
  })

  test('_meta members for the router alone do not reach servers', async () => {
    const { ask: asked } = await edge({ work: worker() })
    const meta = { 'trunkline/timeoutMs': 5000, 'io.modelcontextprotocol/logLevel': 'debug' }
    const { json } = await asked(calling('work__params', {}, { meta: { ...meta, own: 'kept' } }))
    const {
      own,
      'trunkline/timeoutMs': leftMs,
      ...rest
    } = JSON.parse(json.result.content[0].text)._meta
    expect([own, rest]).toEqual(['kept', {}])
    // Not the timeout the caller sent, but what is left of it.
    expect(leftMs).toSatisfy((ms: number) => Number.isInteger(ms) && ms > 0 && ms <= 5000)
  })

  test('a secret appears in no argument of any process', async () => {
    const token = 'correct-horse-battery-staple'
    process.env.SEC_TOKEN = token
    onTestFinished(() => void delete process.env.SEC_TOKEN)
    const env = { PASS: '$' + '{SEC_TOKEN}', PLAIN: token }
    const running = await up({ servers: { work: worker({}, { env }) } }, ['--log-level', 'debug'])
    const pids = [running.pid, ...descendants(running.pid)]
    expect(pids).toHaveLength(2)
    for (const pid of pids) {
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(token)
    }
    const said = await fetch(new URL('/readyz', running.address))
    expect(await said.text()).not.toContain(token)
    running.child.kill('SIGTERM')
    expect(await running.exit).toBe(0)
    const log = running.said.join('\n')
    expect(log).not.toContain(token)
    // The configuration is printed with its secrets masked.
    const shown = running.said.find(line => line.includes('"event":"configuration"')) ?? '{}'
    expect(JSON.parse(shown)).toMatchObject({
      servers: { work: { env: { PASS: '$' + '{SEC_TOKEN}', PLAIN: '***' } } },
    })
  })

  test('the sources hold no secret', () => {
    const looksSecret =
      /(?:secret|password|passwd|token|api_?key|private_?key|signing_?key)['"]?\s*[:=]\s*['"`](?=[^'"`]*\d)[A-Za-z0-9+/_-]{12,}['"`]|-----BEGIN [A-Z]/i
    const sources = sourcesIn(fileURLToPath(new URL('../../src', import.meta.url)))
    expect(sources.filter(({ text }) => looksSecret.test(text)).map(({ name }) => name)).toEqual([])
  })
})

describe('SEC-34: a URL that a server asks the user to visit', () => {
  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,<script>1</script>',
    'file:///etc/passwd',
    'vbscript:x',
    '-flag',
    '--new-window=https://a.test',
    'https://a.test/"; rm -rf ~; "',
    "https://a.test/'x",
    'https://a.test/$(id)',
    'https://a.test/`id`',
    'https://a.test/\nhttps://b.test',
    'https://a.test/\u001b[31m',
    'https://a.test/\u202Ex',
    'https://user:pw@a.test/',
    'https://bank.test@evil.test/',
    'a.test',
    '',
  ])('is not shown as one: %j', url => {
    expect(urlProblem(url)).toMatch(/URL/)
  })

  test.each([
    'https://login.example/authorize?client_id=a&state=b%20c',
    'http://127.0.0.1:8080/callback#done',
    'HTTPS://EXAMPLE.ORG/~me/a+b,c',
  ])('is shown: %s', url => {
    expect(urlProblem(url)).toBeUndefined()
  })

  test('is declined where no user is at a terminal, and nothing is started', async () => {
    const program = fileURLToPath(new URL('asks-url.js', import.meta.url))
    const url = 'file:///etc/passwd'
    const ran = await trunkline(['call', 'go', '--', process.execPath, program, url])
    expect([ran.code, ran.stdout]).toEqual([1, ''])
    expect(ran.stderr).toContain('declined, because there is no terminal')
  })
})

describe('SEC-35: an environment variable for a server', () => {
  const secrets = {
    TOKEN_A: 'secret-of-a',
    TOKEN_B: 'secret-of-b',
    AWS_SECRET_ACCESS_KEY: 'secret-of-the-cloud',
    NPM_TOKEN: 'secret-of-the-registry',
    NODE_OPTIONS: '--max-old-space-size=4000',
    LD_PRELOAD: '',
  }

  test.each([
    'TOKEN_*',
    '**',
    'TOKEN_?',
    'TOKEN_[AB]',
    'PATH/x',
    'TOKEN A',
    '!TOKEN_A',
    '#TOKEN_A',
  ])('is named exactly: %s is none', name => {
    const env = { TOKEN: `$\{${name}}` }
    const text = JSON.stringify({ servers: { a: { command: 'x', env } } })
    const read = () => readConfig(text, { env: secrets, file: 'x' })
    expect(read).toThrow(ConfigError)
    expect(read).not.toThrow(/secret-of/)
  })

  test('reaches the one server that names it, and no other', async () => {
    const before = { ...process.env }
    Object.assign(process.env, secrets)
    onTestFinished(() => {
      for (const name of Object.keys(secrets)) {
        if (before[name] === undefined) delete process.env[name]
        else process.env[name] = before[name]
      }
    })
    const reference = (name: string): string => `$\{${name}}`
    const text = JSON.stringify({
      servers: {
        a: { ...worker(), env: { TOKEN: reference('TOKEN_A'), PLAIN: '$(id) `id` $TOKEN_B' } },
        b: { ...worker(), env: { TOKEN: reference('TOKEN_B') }, inheritEnv: ['NPM_TOKEN'] },
        c: worker(),
      },
    })
    const { servers } = readConfig(text, { env: process.env, file: 'x' })
    const router = await routed(servers)
    const client = await caller(router)
    const given = async (server: string): Promise<Readonly<Record<string, string>>> =>
      JSON.parse((await client.call(`${server}__env`)).text).env
    const usual = /^(?:HOME|LANG|LANGUAGE|LOGNAME|PATH|SHELL|TERM|TMPDIR|TZ|USER|LC_.*)$/
    const own = async (server: string) =>
      Object.fromEntries(Object.entries(await given(server)).filter(([name]) => !usual.test(name)))
    expect(await own('a')).toEqual({ TOKEN: 'secret-of-a', PLAIN: '$(id) `id` $TOKEN_B' })
    expect(await own('b')).toEqual({ TOKEN: 'secret-of-b', NPM_TOKEN: 'secret-of-the-registry' })
    expect(await own('c')).toEqual({})
    expect(JSON.stringify(router.servers())).not.toContain('secret-of')
  })
})

describe('SEC-29: what is cacheable for one caller', () => {
  test('is never given to another: the server itself answers each', async () => {
    const server = new Server({ name: 'behind', version: '1' })
    let reads = 0
    const cache = { ttlMs: 60_000, cacheScope: 'private' } as const
    server.resource('mine', 'mine://1', { cache }, () => `read ${++reads}`)
    const router = await routed({ behind: { server } })
    for (let turn = 1; turn <= 4; turn++) {
      await using client = await connect(router, { era: 'stateless' })
      const { contents } = await client.read('mine://1')
      expect(contents).toMatchObject([{ text: `read ${turn}` }])
    }
  })

  test('is marked as the server marked it, and lists are never marked public', async () => {
    const server = new Server({ name: 'behind', version: '1' })
    const cache = { ttlMs: 60_000, cacheScope: 'private' } as const
    server.resource('mine', 'mine://1', { cache }, () => 'x')
    const { ask: asked } = await edge({ behind: { server } })
    const { json } = await asked(speaking('resources/read', { uri: 'mine://1' }))
    expect(json.result).toMatchObject({ cacheScope: 'private', ttlMs: 60_000 })
    for (const method of ['tools/list', 'resources/list', 'prompts/list']) {
      const { json: list } = await asked(speaking(method))
      expect([method, list.result.cacheScope]).toEqual([method, 'private'])
    }
  })
})

test('a session of one service is not valid for another', async () => {
  const [first, second] = [await edge({}), await edge({})]
  const { headers } = await first.ask(opening())
  const session = headers.get('mcp-session-id')
  expect((await second.ask(inSession(session, 'ping', {}, 1))).status).toBe(404)
})
