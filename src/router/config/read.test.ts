// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to variables look like that
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyText } from '../../../test/support/any-text.ts'
import { ConfigError, type ConfigIssue, describeIssue } from './issue.ts'
import { readConfig } from './read.ts'
import { configGroups, defaultListen, fieldsOf } from './schema.ts'

const env = {
  SEALING_KEY: 'a'.repeat(64),
  OLD_SEALING_KEY: 'b'.repeat(64),
  TOKEN: 's3cret-value',
  PORT: '4000',
  LINES: 'a\nb',
  EMPTY: '',
  WEATHER_KEY: 'w',
  SEARCH_TOKEN: 't',
  INTROSPECTION_SECRET: 's',
  ROUTER_SECRET: 's',
  LOGIN_SECRET: 's',
  ROUTER_TOKEN: 's',
  IDP_SECRET: 's',
}

function read(value: unknown) {
  return readConfig(typeof value === 'string' ? value : JSON.stringify(value), {
    env,
    file: 'f.json',
  })
}

function issuesOf(value: unknown): readonly ConfigIssue[] {
  try {
    return read(value).warnings
  } catch (error) {
    if (error instanceof ConfigError) return error.issues
    throw error
  }
}

const messagesOf = (value: unknown): string[] => issuesOf(value).map(issue => issue.message)

/** A file with one server. */
const withServer = (server: unknown) => ({ mcpServers: { a: server } })

const url = 'http://127.0.0.1:1/mcp'

describe('a valid file', () => {
  test('a minimal file gets the defaults', () => {
    expect(read('{"mcpServers": {}}')).toMatchObject({
      file: 'f.json',
      servers: {},
      router: {},
      listen: [defaultListen],
      public: false,
      metrics: false,
      logLevel: 'info',
      warnings: [],
    })
  })

  test.each(['mcpServers', 'servers'])('servers may be called %s', key => {
    const { servers } = read({ [key]: { a: { command: 'x', args: ['y'] }, b: { url } } })
    expect(servers).toEqual({ a: { command: 'x', args: ['y'] }, b: { url } })
    expect(Object.keys(servers)).toEqual(['a', 'b'])
  })

  test('options of the router are separate from listen, metrics and logLevel', () => {
    const config = read({
      $schema: './x.json',
      inputs: [],
      mcpServers: {},
      name: 'n',
      pageSize: 10,
      limits: { concurrent: 5, queue: 0, perCaller: { perSecond: 0.5, burst: 2 } },
      listen: 'stdio:',
      metrics: 'http://localhost:9090/metrics',
      logLevel: 'error',
    })
    expect(config.router).toEqual({
      name: 'n',
      pageSize: 10,
      limits: { concurrent: 5, queue: 0, perCaller: { perSecond: 0.5, burst: 2 } },
    })
    expect(config.listen).toEqual(['stdio:'])
    expect(config.metrics).toBe('http://localhost:9090/metrics')
    expect(config.logLevel).toBe('error')
  })

  const examples = Array.from(configGroups).flatMap(([group, { fields }]) =>
    Array.from(fields, ([field, { example }]) => ({ group, field, example })),
  )

  test.each(examples)('the example for $field of $group', ({ group, field, example }) => {
    expect(messagesOf(placed(group, { ...needed[field], [field]: example }))).toEqual([])
  })

  test('it is deeply frozen', () => {
    const config = read({ mcpServers: { a: { command: 'x', args: ['y'], env: { A: 'b' } } } })
    const { a } = config.servers
    for (const part of [config, config.servers, a, a?.args, a?.env, config.listen, config.router]) {
      expect(Object.isFrozen(part)).toBe(true)
    }
  })

  test('names that objects inherit are valid names of servers, variables and tools', () => {
    const text = '{"mcpServers": {"__proto__": {"command": "x", "env": {"__proto__": "y"}}}}'
    const { servers } = read(text)
    expect(Object.keys(servers)).toEqual(['__proto__'])
    expect(servers.constructor).toBeUndefined()
    expect(Object.keys(Object.values(servers)[0]?.env ?? {})).toEqual(['__proto__'])
  })

  test('spellings of other hosts are understood', () => {
    expect(read(withServer({ type: 'streamableHttp', url })).servers.a?.type).toBe(
      'streamable-http',
    )
    expect(read(withServer({ type: 'local', command: 'x' })).servers.a?.type).toBe('stdio')
    const tools = ['get_*', '${PORT}']
    const { servers, shown } = read(withServer({ url, tools }))
    expect(servers.a?.tools).toEqual({ allow: ['get_*', env.PORT] })
    expect(shown.get('servers.a.tools.allow[1]')).toBe('${PORT}')
  })
})

/** Fields that other fields require. */
const needed: Readonly<Record<string, object>> = {
  burst: { perSecond: 1 },
  queue: { concurrent: 1 },
  hash: { balance: 'hash' },
  weight: { url },
  policy: { auth: { apiKeys: 'keys.json' } },
}

function withPolicy(policy: object): unknown {
  return { mcpServers: {}, auth: { apiKeys: 'keys.json' }, policy }
}

/** Puts an object of a group into a file. */
function placed(group: string, object: object): unknown {
  switch (group) {
    case 'file':
      return 'servers' in object ? object : { mcpServers: {}, ...object }
    case 'server': {
      const hasTarget = 'command' in object || 'url' in object || 'urls' in object
      const forUrl = ['headers', 'auth', 'type', 'websocket', 'pool'].some(key => key in object)
      return withServer(
        hasTarget ? object : { ...(forUrl ? { url } : { command: 'x' }), ...object },
      )
    }
    case 'instance':
      return withServer({ urls: [object] })
    case 'hash':
      return withServer({ urls: [url], balance: 'hash', hash: object })
    case 'pool':
      return withServer({ url, pool: object })
    case 'priorities':
      return { mcpServers: {}, priorities: [object] }
    case 'toolSearch':
      return { mcpServers: {}, toolSearch: object }
    case 'view':
      return {
        mcpServers: { git: { command: 'x' }, github: { command: 'x' } },
        views: { v: object },
      }
    case 'viewTools':
      return { mcpServers: {}, views: { v: { tools: object } } }
    case 'callers':
      return { mcpServers: {}, views: { v: { callers: [object] } } }
    case 'auth':
      return { mcpServers: {}, auth: { apiKeys: 'keys.json', ...object } }
    case 'jwt':
      return { mcpServers: {}, auth: { jwt: { issuer: 'https://as.example', ...object } } }
    case 'login': {
      const auth = { jwt: { issuer: url }, login: { clientId: 'c', ...object } }
      return { ...withServer({ url, auth: { user: {} } }), auth }
    }
    case 'introspection': {
      const example = fieldsOf('auth').get('introspection')?.example
      return { mcpServers: {}, auth: { introspection: { ...Object(example), ...object } } }
    }
    case 'apiKeys':
      return { mcpServers: {}, auth: { apiKeys: { file: 'keys.json', ...object } } }
    case 'policy':
      return withPolicy({ rules: [], ...object })
    case 'policyRule': {
      const effect = 'allow' in object ? {} : { deny: [] }
      return withPolicy({ rules: [{ name: 'r', ...effect, ...object }] })
    }
    case 'policyCondition':
      return placed('policyRule', { who: object })
    case 'policyWhen':
      return placed('policyRule', { when: { argument: 'a', is: { claim: 'c' }, ...object } })
    case 'policyClaim':
      return placed('policyWhen', { is: object })
    case 'console':
      return { mcpServers: {}, console: object }
    case 'audit':
      return { mcpServers: {}, audit: { file: 'audit.jsonl', ...object } }
    case 'serverAuth':
      return { ...withServer({ url, auth: object }), auth: { jwt: { issuer: url } } }
    case 'user': {
      const server = withServer({ url, auth: { user: { clientId: 'c', ...object } } })
      return { ...server, auth: { jwt: { issuer: url } } }
    }
    case 'exchange':
    case 'idJag': {
      const example = fieldsOf('serverAuth').get(group)?.example
      const server = withServer({ url, auth: { [group]: { ...Object(example), ...object } } })
      return { ...server, auth: { jwt: { issuer: url } } }
    }
    case 'idp': {
      const example = Object(fieldsOf('serverAuth').get('idJag')?.example)
      const idJag = { ...example, idp: { ...example.idp, ...object } }
      return { ...withServer({ url, auth: { idJag } }), auth: { jwt: { issuer: url } } }
    }
    case 'lister': {
      const exchange = fieldsOf('serverAuth').get('exchange')?.example
      const server = withServer({ url, auth: { exchange }, lister: object })
      return { ...server, auth: { jwt: { issuer: url } } }
    }
    case 'clientCredentials': {
      const example = fieldsOf('serverAuth').get('clientCredentials')?.example
      return withServer({ url, auth: { clientCredentials: { ...Object(example), ...object } } })
    }
    case 'deadLetters':
      return { mcpServers: {}, deadLetters: object }
    case 'tls':
      return { mcpServers: {}, tls: { cert: 'c.pem', key: 'k.pem', ...object } }
    case 'routerLimits':
      return { mcpServers: {}, limits: object }
    case 'callLimits':
      return { mcpServers: {}, limits: { perCaller: object } }
    default:
      return withServer({ command: 'x', [group]: object })
  }
}

describe('an invalid file', () => {
  const cases: readonly [name: string, file: unknown, message: string][] = [
    ['a list', '[]', 'the file must be an object (got an array)'],
    ['no servers', {}, 'the file has no servers; add mcpServers'],
    ['a server that is a string', withServer('x'), 'mcpServers.a must be an object (got a string)'],
    [
      'null',
      withServer({ command: null }),
      'mcpServers.a: a server must have one of command, url and urls',
    ],
    [
      'neither command nor address',
      withServer({}),
      'mcpServers.a: a server must have one of command, url and urls',
    ],
    [
      'both of them',
      withServer({ command: 'x', url }),
      'mcpServers.a: a server must have only one of command, url and urls (got command and url)',
    ],
    [
      'both kinds of addresses',
      withServer({ url, urls: [url] }),
      'mcpServers.a: a server must have only one of command, url and urls (got url and urls)',
    ],
    ['no addresses', withServer({ urls: [] }), 'mcpServers.a.urls is empty'],
    [
      'a duplicate address',
      withServer({ urls: [url, { url }] }),
      'mcpServers.a: urls contains a duplicate address; give it a weight instead',
    ],
    [
      'an entry without an address',
      withServer({ urls: [{ weight: 1 }] }),
      'mcpServers.a.urls[0]: an entry of urls must have a url',
    ],
    ['an empty command', withServer({ command: ' ' }), 'mcpServers.a.command is empty'],
    ['NUL', withServer({ command: 'x\0' }), 'mcpServers.a.command contains a NUL character'],
    [
      'a number as a string',
      { mcpServers: {}, pageSize: '10' },
      'pageSize must be an integer from 1 to 10 000 (got a string)',
    ],
    [
      'a number below the range',
      { mcpServers: {}, pageSize: 0 },
      'pageSize must be an integer from 1 to 10 000 (got 0)',
    ],
    [
      'a number above the range',
      withServer({ command: 'x', instances: 65 }),
      'mcpServers.a.instances must be an integer from 1 to 64 (got 65)',
    ],
    [
      'a fraction',
      withServer({ command: 'x', instances: 1.5 }),
      'mcpServers.a.instances must be an integer from 1 to 64 (got 1.5)',
    ],
    [
      'an infinite number',
      '{"mcpServers": {}, "parkedMs": 1e999}',
      'parkedMs must be an integer from 1 to 86 400 000 (got Infinity)',
    ],
    [
      'true where only false is allowed',
      withServer({ command: 'x', prefix: true }),
      'mcpServers.a.prefix must be a string, or false (got a boolean)',
    ],
    [
      'a misspelled enum value',
      withServer({ urls: [url], balance: 'rond-robin' }),
      'mcpServers.a.balance must be "round-robin", "weighted", "least-busy", "two-choices", "adaptive" or "hash" (got "rond-robin"); did you mean "round-robin"?',
    ],
    [
      'a misspelled key',
      withServer({ comand: 'x', url }),
      'unknown key "comand" in mcpServers.a; did you mean "command"?',
    ],
    [
      'a key with letters swapped',
      withServer({ command: 'x', agrs: [] }),
      'unknown key "agrs" in mcpServers.a; did you mean "args"?',
    ],
    [
      'an unknown key',
      { listen: 'stdio:', mcpServers: { a: { command: 'x', retry: { zzz: 1 } } } },
      'unknown key "zzz" in mcpServers.a.retry; known keys are attempts, budget, tools',
    ],
    [
      'websocket for a command',
      withServer({ command: 'x', websocket: true }),
      'mcpServers.a: websocket applies to HTTP addresses only, and this server is a command',
    ],
    [
      'websocket for a WebSocket address',
      withServer({ url: 'ws://localhost:1', websocket: false }),
      'mcpServers.a: websocket applies to HTTP addresses only',
    ],
    [
      'headers for a socket',
      withServer({ url: 'tcp://localhost:1', headers: { A: 'b' } }),
      'mcpServers.a: headers apply to HTTP and WebSocket addresses only',
    ],
    [
      'an invalid header name',
      withServer({ url, headers: { 'A B': 'c' } }),
      '"A B" is not a valid header name',
    ],
    [
      'a duplicate header',
      withServer({ url, headers: { a: 'b', A: 'c' } }),
      'header "A" duplicates "a"',
    ],
    [
      'a header over two lines',
      withServer({ url, headers: { A: '${LINES}' } }),
      'mcpServers.a.headers.A contains a line break',
    ],
    [
      'a header beyond Latin',
      withServer({ url, headers: { A: '→' } }),
      'mcpServers.a.headers.A contains a character that is not allowed in a header',
    ],
    [
      'a pattern for variables',
      withServer({ command: 'x', inheritEnv: ['AWS_*'] }),
      'mcpServers.a.inheritEnv[0] is not a valid name of an environment variable',
    ],
    [
      'a type against the command',
      withServer({ command: 'x', type: 'http' }),
      'mcpServers.a: type "http" contradicts command; omit the type',
    ],
    [
      'a type against the address',
      withServer({ url: 'ws://localhost:1', type: 'sse' }),
      'mcpServers.a: type "sse" contradicts url; omit the type',
    ],
    [
      'stdio at an address',
      withServer({ url, type: 'stdio' }),
      'mcpServers.a: type "stdio" contradicts url; omit the type',
    ],
    [
      'balance without its hash',
      withServer({ urls: [url], balance: 'hash' }),
      'mcpServers.a: balance "hash" requires hash: "principal", { "header": … } or { "argument": … }',
    ],
    [
      'a hash without its balance',
      withServer({ urls: [url], hash: 'principal' }),
      'mcpServers.a: hash has no effect unless balance is "hash"',
    ],
    [
      'a hash of two things',
      withServer({ urls: [url], balance: 'hash', hash: { header: 'a', argument: 'b' } }),
      'mcpServers.a.hash: hash must have one of header and argument',
    ],
    [
      'a burst alone',
      withServer({ command: 'x', limits: { tools: { t: { burst: 1 } } } }),
      'mcpServers.a.limits.tools.t: burst has no effect without perSecond',
    ],
    [
      'a queue alone',
      { mcpServers: {}, limits: { queue: 1 } },
      'limits: queue has no effect without concurrent',
    ],
    [
      'a minimum delay above the maximum',
      withServer({ command: 'x', restart: { minMs: 60_000 } }),
      'mcpServers.a.restart: minMs (60000) must not exceed maxMs (30000)',
    ],
    [
      'two tools with one name',
      withServer({ command: 'x', tools: { rename: { a: 'c', b: 'c' } } }),
      'mcpServers.a.tools: rename gives two tools the same name',
    ],
    [
      'a tool without a name',
      withServer({ command: 'x', tools: { rename: { '': 'c' } } }),
      'the name of this tool is empty',
    ],
    [
      'an input',
      withServer({ command: 'x', env: { A: '${input:key}' } }),
      'mcpServers.a.env.A: input "key" has no value; set the environment variable INPUT_KEY, or answer on a terminal',
    ],
    [
      'a missing variable',
      withServer({ url, headers: { A: '${NONE}' } }),
      'mcpServers.a.headers.A: environment variable NONE is not set; set it, or use ${NONE:-default}',
    ],
    [
      'an empty variable where a value is required',
      withServer({ command: '${EMPTY}' }),
      'mcpServers.a.command is empty',
    ],
    [
      'a file of variables',
      withServer({ command: 'x', envFile: '.env' }),
      'mcpServers.a.envFile is not supported; set the variables in env or name them in inheritEnv',
    ],
    [
      'a sandbox of VS Code',
      withServer({ command: 'x', sandboxEnabled: true }),
      'mcpServers.a.sandboxEnabled is not supported; run the sandbox as the command',
    ],
    [
      'a public address',
      { mcpServers: {}, listen: ['http://127.0.0.1:3000', 'http://0.0.0.0:3000'] },
      'listen has an address that other machines can reach; use 127.0.0.1, set "auth" to authenticate callers, or set "public": true to allow unauthenticated access',
    ],
    [
      'a public address for metrics',
      { mcpServers: {}, metrics: 'http://[::]:9090' },
      'metrics has an address that other machines can reach; use 127.0.0.1, or set "public": true to allow unauthenticated access',
    ],
    [
      'metrics without HTTP',
      { mcpServers: {}, metrics: true, listen: 'stdio:' },
      'metrics need an HTTP address; add one to listen, or set metrics to an address',
    ],
    [
      'a duplicate listen address',
      { mcpServers: {}, listen: ['stdio:', 'stdio:'] },
      'listen contains a duplicate address',
    ],
    ['nowhere to listen', { mcpServers: {}, listen: [] }, 'listen is empty'],
  ]

  test.each(cases)('%s', (_, file, message) => {
    expect(messagesOf(file)).toEqual([message])
    expect(() => read(file)).toThrow(ConfigError)
  })

  test('all issues are reported together, in file order, with their positions', () => {
    const text = `{
  "listen": "ftp://x",
  "mcpServers": {
    "a": { "command": "x", "instances": 0, "colour": 1 },
    "b": { "url": "nowhere" },
    "b c": { "timeout": 5, "command": "y" }
  }
}`
    const places = issuesOf(text).map(({ line, column, path, severity }) => [
      line,
      column,
      path,
      severity,
    ])
    expect(places).toEqual([
      [2, 13, 'listen', 'error'],
      [4, 41, 'mcpServers.a.instances', 'error'],
      [4, 44, 'mcpServers.a.colour', 'error'],
      [5, 19, 'mcpServers.b.url', 'error'],
      [6, 14, 'mcpServers["b c"].timeout', 'warning'],
    ])
    expect(() => read(text)).toThrow(
      /^f\.json:2:13: listen is not an address to listen at; .*\nf\.json:4:41: /,
    )
  })

  test('a syntax error is reported with file, line and column', () => {
    expect(() => read('{\n"a" 1}')).toThrow(
      'f.json:2:5: expected a colon between name and value\n  "a" 1}\n      ^',
    )
  })
})

test('a public address is allowed by the file or by the option allowPublic', () => {
  const file = { mcpServers: {}, listen: 'http://0.0.0.0:3000/mcp' }
  expect(read({ ...file, public: true }).listen).toEqual([file.listen])
  const config = readConfig(JSON.stringify(file), { env, allowPublic: true })
  expect([config.listen, config.public]).toEqual([[file.listen], false])
})

describe('keys of other hosts', () => {
  test.each(['description', 'autoApprove', 'alwaysAllow', 'timeout', 'gallery', 'dev', 'trust'])(
    '%s is ignored with a warning that names line and key',
    key => {
      const text = `{"mcpServers": {"a": {\n"${key}": "\${NONE}", "command": "x"}}}`
      const config = read(text)
      expect(config.servers).toEqual({ a: { command: 'x' } })
      expect(config.warnings).toEqual([
        expect.objectContaining({ severity: 'warning', line: 2, path: `mcpServers.a.${key}` }),
      ])
      const [warning] = config.warnings
      expect(warning && describeIssue(warning, config.file)).toMatch(
        new RegExp(`^f\\.json:2:1: warning: mcpServers\\.a\\.${key} .*it is ignored$`),
      )
    },
  )

  test('empty members, as in generated files, are accepted', () => {
    expect(messagesOf(withServer({ url, args: [], env: {} }))).toEqual([])
    expect(messagesOf(withServer({ command: 'x', headers: {} }))).toEqual([])
  })
})

describe('an invalid server of a tolerant reader', () => {
  const tolerant = (value: unknown) =>
    readConfig(JSON.stringify(value), { env, file: 'f.json', tolerant: true })

  const invalid: readonly [name: string, server: unknown, reason: RegExp][] = [
    ['a variable that is not set', { command: 'x', env: { A: '${NONE}' } }, /NONE is not set/],
    ['a bad address', { url: 'nowhere' }, /is not an address to connect to/],
    ['an unknown transport', { url, transport: 'pigeon' }, /type must be .*"pigeon"/],
    ['no object', 'x', /must be an object \(got a string\)/],
    ['nothing to start', {}, /must have one of command, url and urls/],
    ['a misspelled key', { comand: 'x' }, /did you mean "command"/],
    ['a sandbox', { command: 'x', sandbox: {} }, /sandbox is not supported/],
  ]

  test.each(invalid)('is down with the reason, and the others are kept: %s', (_, bad, reason) => {
    const { servers, warnings } = tolerant({ mcpServers: { bad, good: { command: 'y' } } })
    expect(servers).toEqual({
      bad: { configError: expect.stringMatching(reason) },
      good: { command: 'y' },
    })
    expect(warnings).toEqual([expect.objectContaining({ severity: 'error', line: 1 })])
  })

  test('is rejected by a reader that is not tolerant', () => {
    for (const [, bad] of invalid) expect(() => read(withServer(bad))).toThrow(ConfigError)
  })

  test('stays disabled', () => {
    const { servers } = tolerant(withServer({ disabled: true, url: 'nowhere' }))
    expect(servers.a).toEqual({ disabled: true, configError: expect.any(String) })
  })

  test('does not make a file with other errors valid', () => {
    expect(() => tolerant({ mcpServers: { a: {} }, listen: 'x' })).toThrow(ConfigError)
    expect(() => tolerant([])).toThrow(ConfigError)
    expect(() => tolerant({ mcpServers: 1 })).toThrow(ConfigError)
  })
})

describe('what hosts accept', () => {
  const accepted: readonly [name: string, given: object, expected: object][] = [
    [
      'numbers as arguments',
      { command: 'x', args: [1, true] },
      { command: 'x', args: ['1', 'true'] },
    ],
    [
      'numbers and null as variables',
      { command: 'x', env: { A: 1, B: null, C: false } },
      { command: 'x', env: { A: '1', C: 'false' } },
    ],
    ['null for what is absent', { command: 'x', env: null, url: null }, { command: 'x' }],
    ['an empty address beside a program', { command: 'x', url: '' }, { command: 'x' }],
    [
      'comments',
      { '//': 'a', _comment: 'b', command: 'x', env: { '//': 'c' } },
      { command: 'x', env: {} },
    ],
    [
      'a program with its arguments',
      { command: 'npx -y a', args: ['b'] },
      { command: 'npx', args: ['-y', 'a', 'b'] },
    ],
  ]

  test.each(accepted)('%s', (_, given, expected) => {
    expect(read(withServer(given)).servers.a).toEqual(expected)
  })

  test('members without effect are reported as warnings', () => {
    expect(messagesOf(withServer({ command: 'x', headers: { A: 'b' } }))).toEqual([
      'mcpServers.a: headers apply to addresses only; pass secrets to a command in env',
    ])
    expect(messagesOf(withServer({ url, env: { A: 'b' } }))).toEqual([
      'mcpServers.a: env applies to commands only, and this server is an address; pass secrets to an address in headers',
    ])
    expect(messagesOf(withServer({ url, oauth: {} }))).toHaveLength(1)
    expect(messagesOf(withServer({ url, unheardOf: 1 }))).toEqual([
      'mcpServers.a.unheardOf is unknown; it is ignored',
    ])
  })

  test('settings of the host beside the servers', () => {
    expect(messagesOf({ mcpServers: {}, isUsingBuiltInNodeForMcp: true, numStartups: 3 })).toEqual(
      [],
    )
    expect(messagesOf({ mcpServers: {}, nme: 'x' })).toEqual([
      'unknown key "nme"; did you mean "name"?',
    ])
    // In a file of ours an unknown setting is a mistake.
    expect(() => read({ mcpServers: {}, listen: 'stdio:', zzzzzz: 1 })).toThrow(
      'unknown key "zzzzzz"',
    )
  })

  test('a program with a space that may be a path is reported', () => {
    const config = read(withServer({ command: 'my server' }))
    expect(config.servers.a).toEqual({ command: 'my server' })
    expect(config.warnings.map(({ message }) => message)).toEqual([
      'mcpServers.a.command contains a space; did you mean command "my", args ["server"]?',
    ])
  })
})

describe('variables', () => {
  test('are expanded, and the displayable form is kept by path', () => {
    const config = read({
      servers: { a: { url: 'http://127.0.0.1:${PORT}/mcp', headers: { A: 'Bearer ${TOKEN}' } } },
    })
    expect(config.servers.a).toEqual({
      url: 'http://127.0.0.1:4000/mcp',
      headers: { A: 'Bearer s3cret-value' },
    })
    expect([...config.shown]).toEqual([
      ['servers.a.url', 'http://127.0.0.1:${PORT}/mcp'],
      ['servers.a.headers.A', 'Bearer ${TOKEN}'],
    ])
  })

  test('the paths do not depend on what the file calls its servers', () => {
    const config = read(withServer({ command: '${TOKEN}' }))
    expect([...config.shown.keys()]).toEqual(['servers.a.command'])
  })

  test('names are not replaced', () => {
    const { servers } = read(withServer({ command: 'x', tools: { rename: { '${TOKEN}': 'y' } } }))
    expect(servers.a?.tools?.rename).toEqual({ '${TOKEN}': 'y' })
  })

  test.each(['comand', 'ulr'])(
    '"%s" is reported once, without a second issue about the missing command or url',
    key => {
      expect(messagesOf(withServer({ [key]: 'x' }))).toHaveLength(1)
    },
  )

  test.each(['mcpServer', 'context_server', 'Servers'])(
    '"%s" is reported once, without a second issue about missing servers',
    key => {
      expect(messagesOf({ [key]: {} })).toHaveLength(1)
    },
  )

  test('may be unset for a disabled server', () => {
    const config = read(withServer({ disabled: true, command: 'x', env: { A: '${NONE}' } }))
    expect(config.warnings).toEqual([])
    expect(() => read(withServer({ disabled: true, command: '${*}' }))).toThrow(ConfigError)
  })

  test('no message contains the value of a variable', () => {
    const everywhere = {
      mcpServers: {
        a: {
          url: '${TOKEN}',
          type: '${TOKEN}',
          balance: '${TOKEN}',
          hash: '${TOKEN}',
          prefix: '${TOKEN} ',
          inheritEnv: ['${TOKEN}='],
          connections: '${TOKEN}',
          cwd: '${TOKEN}',
        },
        b: { urls: ['ws://${TOKEN}#x', 'tcp://${TOKEN}'], headers: { A: '${TOKEN}\n' } },
      },
      listen: ['http://${TOKEN}:3000', 'x${TOKEN}'],
      metrics: 'https://${TOKEN}',
      logLevel: '${TOKEN}',
    }
    const messages = messagesOf(everywhere)
    expect(messages.length).toBeGreaterThan(12)
    expect(messages.join('\n')).not.toContain(env.TOKEN)
  })
})

describe('arbitrary files', () => {
  const names = Array.from(configGroups.values()).flatMap(({ fields }) => [...fields.keys()])
  const name = fc.oneof(fc.constantFrom(...names), fc.string())
  const text = fc.oneof(fc.string(), fc.constantFrom('${TOKEN}', '${', 'http://', 'hash', 'unix:'))
  const { tree } = fc.letrec(tie => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(name, tie('tree'), { maxKeys: 5 }),
    ),
  }))

  test('yield a configuration or issues with positions, which reveal no values', () => {
    const file = fc.record({ mcpServers: fc.dictionary(name, tree, { maxKeys: 3 }), extra: tree })
    fc.assert(
      fc.property(fc.oneof(tree, file), value => {
        for (const issue of issuesOf(JSON.stringify(value) ?? '')) {
          expect(issue.line).toBeGreaterThan(0)
          expect(issue.column).toBeGreaterThan(0)
          expect(issue.message).not.toContain(env.TOKEN)
        }
      }),
    )
  })

  test('yield issues if they are not valid JSON', () => {
    fc.assert(fc.property(anyText(), value => void issuesOf(value)))
    const whole = '{"mcpServers": {"a": {"command": "x", /* c */ "args": ["y",],}}, // d\n}'
    for (let at = 0; at < whole.length; at++) {
      expect(issuesOf(whole.slice(0, at)).length).toBeGreaterThan(0)
      issuesOf(whole.slice(0, at) + whole.slice(at + 1))
    }
  })
})
