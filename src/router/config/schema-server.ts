import { limits } from '../../util/limits/limits.ts'
import type { UpstreamOptions } from '../options.ts'
import { balancers } from '../policy/balance.ts'
import {
  address,
  boolean,
  enumeration,
  type Field,
  group,
  integer,
  list,
  map,
  member,
  ms,
  nonEmpty,
  number,
  string,
  union,
} from './field.ts'

/** Options of a server that a file can set. */
export type ServerField = Exclude<keyof UpstreamOptions, 'server' | 'use' | 'configError'>

/** Fields of an upstream server. */
export const serverFields: Record<ServerField, Field> = {
  command: {
    type: nonEmpty,
    reconnects: true,
    meaning: 'The executable to start, without a shell.',
    example: 'npx',
  },
  args: {
    type: list(string),
    reconnects: true,
    meaning: 'Arguments of the command.',
    default: [],
    example: ['-y', 'some-mcp-server'],
  },
  cwd: {
    type: nonEmpty,
    reconnects: true,
    meaning: 'Working directory of the process.',
    default: '(working directory of the router)',
    example: './data',
  },
  env: {
    type: map('variable', string),
    reconnects: true,
    meaning: 'Additional environment variables of the process.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    example: { API_KEY: '${WEATHER_KEY}' },
  },
  inheritEnv: {
    type: list({ kind: 'string', rule: 'variable' }),
    reconnects: true,
    meaning:
      'Names of environment variables that the process inherits from the router. By default it inherits only those for directories, language and terminal.',
    default: [],
    example: ['HTTPS_PROXY'],
  },
  instances: {
    type: integer(1, 64),
    reconnects: true,
    meaning: 'Number of processes to run.',
    default: 1,
    example: 3,
  },
  url: {
    type: address('connect'),
    reconnects: true,
    meaning: 'Address of a running server.',
    example: 'https://mcp.example.com/mcp',
  },
  urls: {
    type: list(union(address('connect'), group('instance')), 1),
    reconnects: true,
    meaning: 'Addresses of several equivalent instances.',
    example: ['http://127.0.0.1:4001/mcp', { url: 'http://127.0.0.1:4002/mcp', weight: 2 }],
  },
  headers: {
    type: map('header', { kind: 'string', rule: 'line' }),
    reconnects: true,
    meaning: 'HTTP headers of every request and of WebSocket handshakes.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    example: { Authorization: 'Bearer ${SEARCH_TOKEN}' },
  },
  auth: {
    type: union(enumeration('stored'), group('serverAuth')),
    reconnects: true,
    meaning:
      'How requests to an HTTP or WebSocket address are authorized: `stored` uses the tokens of `trunkline login`. A token of a caller is never forwarded.',
    default: '(not at all, or by `headers`)',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    example: { bearer: '${SEARCH_TOKEN}' },
  },
  lister: {
    type: union(enumeration('stored'), group('lister')),
    reconnects: true,
    meaning:
      'How the router itself is authorized to read lists, to check the health of the server and to subscribe to resources, if `auth` is for each caller.',
    default: '(each caller gets the lists that the server has for it)',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    example: { bearer: '${SEARCH_TOKEN}' },
  },
  websocket: {
    type: boolean,
    reconnects: true,
    meaning:
      'Whether calls to a stateless HTTP server use a WebSocket if the server offers one, as servers of this package do. `false` sends one HTTP request per call, which a load balancer in between can distribute.',
    default: true,
    example: false,
  },
  type: {
    type: {
      kind: 'enum',
      values: ['stdio', 'http', 'streamable-http', 'sse', 'ws', 'websocket'],
      aliases: new Map([
        ['streamableHttp', 'streamable-http'],
        ['streamable_http', 'streamable-http'],
        ['streamable', 'streamable-http'],
        ['http-stream', 'streamable-http'],
        ['remote', 'http'],
        ['local', 'stdio'],
      ]),
    },
    reconnects: true,
    meaning: 'The transport, as other hosts write it. The address already implies it.',
    default: '(implied by the address)',
    example: 'http',
  },
  disabled: {
    type: boolean,
    meaning: 'A disabled server is neither started nor listed, and its variables may be unset.',
    default: false,
    example: true,
  },
  start: {
    type: enumeration('at-once', 'first-use'),
    meaning:
      'When the server is started: with the router, or when a caller first uses it. Its tools are listed as in the last run, or it is started for the first list.',
    default: 'at-once',
    example: 'first-use',
  },
  prefix: {
    type: union({ kind: 'string', rule: 'prefix' }, { kind: 'false' }),
    meaning: 'Prefix of its tool and prompt names; `false` for none.',
    default: '(server name and `__`)',
    example: 'fs_',
  },
  tools: {
    type: union(group('tools'), member('allow', list(nonEmpty))),
    meaning:
      'Which tools callers see, and how. An array, as some hosts write it, is the same as `allow`.',
    example: { deny: ['delete_*'] },
  },
  balance: {
    type: enumeration(...Object.keys(balancers)),
    meaning: 'Load-balancing strategy for several instances.',
    default: 'two-choices',
    example: 'least-busy',
  },
  hash: {
    type: union(enumeration('principal'), group('hash')),
    meaning: 'The key for `balance`: `hash`, which decides the instance of a call.',
    example: { header: 'x-tenant' },
  },
  timeoutMs: {
    type: ms(),
    meaning: 'How long a call may wait for a response or progress.',
    default: limits.upstreamCallMs.default,
    example: 120_000,
  },
  connectTimeoutMs: {
    type: ms(),
    meaning: 'Timeout for opening a connection, starting the process included.',
    default: limits.upstreamConnectMs.default,
    example: 30_000,
  },
  startWaitMs: {
    type: ms(),
    meaning:
      'How long calls and first lists wait for the server while it starts. Then a call is answered -32000, and a list is returned without the server.',
    default: '(`startWaitMs` of the router)',
    example: 4000,
  },
  breaker: {
    type: union(group('breaker'), { kind: 'false' }),
    meaning: 'Circuit breaker of each instance; `false` disables it.',
    example: { failures: 3 },
  },
  limits: {
    type: group('limits'),
    meaning: 'Limits of the calls to this server.',
    example: { concurrent: 8, tools: { slow_search: { concurrent: 1 } } },
  },
  restart: {
    type: union(group('restart'), { kind: 'false' }),
    meaning: 'How an exited process is restarted or a lost connection reopened; `false` for never.',
    example: { maxRestarts: 3 },
  },
  retry: {
    type: group('retry'),
    meaning:
      'Retries of failed calls on another instance, if the call certainly takes effect only once.',
    example: { attempts: 3 },
  },
  trustAnnotations: {
    type: boolean,
    meaning:
      'Whether to trust `readOnlyHint` and `idempotentHint` of its tools, which allow retries.',
    default: false,
    example: true,
  },
  health: {
    type: group('health'),
    meaning: 'Health checks of each instance.',
    example: { intervalMs: 15_000 },
  },
  connections: {
    type: enumeration('compatible', 'shared', 'per-caller'),
    reconnects: true,
    meaning:
      'Which callers share a connection to a session-based server: those with the same client capabilities (`compatible`), all (`shared`), or none (`per-caller`). By default `shared` for a process, because another process would have separate state, and `compatible` for an address.',
    example: 'per-caller',
  },
  pool: {
    type: group('pool'),
    reconnects: true,
    meaning:
      'Spreads calls over several connections to each instance, for an address. By default all calls that can share a connection do.',
    example: { min: 2, max: 8 },
  },
}

/** Fields of an entry of `urls`. */
export const instance: Record<'url' | 'weight', Field> = {
  url: {
    type: address('connect'),
    meaning: 'Address of the instance. Required.',
    example: 'http://127.0.0.1:4002/mcp',
  },
  weight: {
    type: number(0, 1000),
    meaning: 'Relative share of the calls; an instance with 0 receives calls only if all have 0.',
    default: 1,
    example: 2,
  },
}

/** Fields of the key for consistent hashing. */
export const hash: Record<'header' | 'argument', Field> = {
  header: {
    type: { kind: 'string', rule: 'header' },
    meaning: 'Name of a header of the call.',
    example: 'x-tenant',
  },
  argument: { type: nonEmpty, meaning: 'Name of an argument of the tool.', example: 'path' },
}
