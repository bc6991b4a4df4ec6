import { limits } from '../../util/limits/limits.ts'
import type { BalanceName, UpstreamOptions } from '../options.ts'
import {
  address,
  count,
  either,
  type Field,
  flag,
  group,
  list,
  map,
  member,
  ms,
  name,
  number,
  text,
  words,
} from './field.ts'

/** Options of a server that a file can say. */
export type ServerField = Exclude<keyof UpstreamOptions, 'server' | 'use'>

const balances: Record<BalanceName, true> = {
  'round-robin': true,
  weighted: true,
  'least-busy': true,
  'two-choices': true,
  adaptive: true,
  hash: true,
}

/** One server behind the router. */
export const server: Record<ServerField, Field> = {
  command: {
    type: name,
    reconnects: true,
    meaning: 'The program to start. It is not run by a shell.',
    example: 'npx',
  },
  args: {
    type: list(text),
    reconnects: true,
    meaning: 'Its arguments.',
    default: [],
    example: ['-y', 'some-mcp-server'],
  },
  cwd: {
    type: name,
    reconnects: true,
    meaning: 'The folder it runs in.',
    default: '(where the router was started)',
    example: './data',
  },
  env: {
    type: map('variable', text),
    reconnects: true,
    meaning: 'Further environment variables of the program.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    example: { API_KEY: '${WEATHER_KEY}' },
  },
  inheritEnv: {
    type: list({ kind: 'text', rule: 'variable' }),
    reconnects: true,
    meaning:
      'Names of variables of the router that the program gets too. Without it, it gets only those that name folders, language and terminal.',
    default: [],
    example: ['HTTPS_PROXY'],
  },
  instances: {
    type: count(1, 64),
    reconnects: true,
    meaning: 'How many of the program run.',
    default: 1,
    example: 3,
  },
  url: {
    type: address('connect'),
    reconnects: true,
    meaning: 'The address of a server that runs already.',
    example: 'https://mcp.example.com/mcp',
  },
  urls: {
    type: list(either(address('connect'), group('instance')), 1),
    reconnects: true,
    meaning: 'The addresses of several that do the same.',
    example: ['http://127.0.0.1:4001/mcp', { url: 'http://127.0.0.1:4002/mcp', weight: 2 }],
  },
  headers: {
    type: map('header', { kind: 'text', rule: 'line' }),
    reconnects: true,
    meaning: 'Sent with every request over HTTP, and with the handshake of a WebSocket.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    example: { Authorization: 'Bearer ${SEARCH_TOKEN}' },
  },
  websocket: {
    type: flag,
    reconnects: true,
    meaning:
      'Whether calls to a stateless server at an address of HTTP go over a WebSocket where it says that it takes one, as servers of this package do. `false` for a request each, which a load balancer in between can spread.',
    default: true,
    example: false,
  },
  type: {
    type: {
      kind: 'word',
      words: ['stdio', 'http', 'streamable-http', 'sse', 'ws', 'websocket'],
      also: new Map([
        ['streamableHttp', 'streamable-http'],
        ['local', 'stdio'],
      ]),
    },
    reconnects: true,
    meaning: 'How it is connected to, as other hosts write it. The address says it already.',
    default: '(what the address says)',
    example: 'http',
  },
  disabled: {
    type: flag,
    meaning: 'That it is neither started nor listed. Its variables need not be set.',
    default: false,
    example: true,
  },
  prefix: {
    type: either({ kind: 'text', rule: 'prefix' }, { kind: 'false' }),
    meaning: 'Put in front of the names of its tools and prompts; `false` for nothing.',
    default: '(its name and `__`)',
    example: 'fs_',
  },
  tools: {
    type: either(group('tools'), member('allow', list(name))),
    meaning: 'What callers see of its tools. A list, as some hosts write it, is what is allowed.',
    example: { deny: ['delete_*'] },
  },
  balance: {
    type: words(...Object.keys(balances)),
    meaning: 'How calls are spread over several instances.',
    default: 'two-choices',
    example: 'least-busy',
  },
  hash: {
    type: either(words('principal'), group('hash')),
    meaning: 'What decides which instance gets a call, where `balance` is `hash`.',
    example: { header: 'x-tenant' },
  },
  timeoutMs: {
    type: ms(),
    meaning: 'How long a call may wait for a sign of life: its result, or progress.',
    default: limits.upstreamCallMs.default,
    example: 120_000,
  },
  openMs: {
    type: ms(),
    meaning: 'How long opening a connection may take, starting the program included.',
    default: limits.upstreamOpenMs.default,
    example: 30_000,
  },
  breaker: {
    type: either(group('breaker'), { kind: 'false' }),
    meaning: 'When an instance gets no calls because too many failed; `false` for never.',
    example: { failures: 3 },
  },
  limits: {
    type: group('limits'),
    meaning: 'How many calls it gets.',
    example: { concurrent: 8, tools: { slow_search: { concurrent: 1 } } },
  },
  restart: {
    type: either(group('restart'), { kind: 'false' }),
    meaning: 'How it is started, or connected to, again; `false` for never.',
    example: { most: 3 },
  },
  retry: {
    type: group('retry'),
    meaning: 'Calls that are made again elsewhere, where it is certain that nothing happens twice.',
    example: { attempts: 3 },
  },
  trustAnnotations: {
    type: flag,
    meaning:
      'That the server is believed which of its tools change nothing (`readOnlyHint`), or nothing twice (`idempotentHint`): they may then be called again.',
    default: false,
    example: true,
  },
  health: {
    type: group('health'),
    meaning: 'How an instance is asked whether it lives.',
    example: { everyMs: 15_000 },
  },
  connections: {
    type: words('alike', 'one', 'each'),
    reconnects: true,
    meaning:
      'Who shares a connection to a server with sessions: callers that can be asked the same things (`alike`), everybody (`one`), nobody (`each`). By default `one` for a program, because another one would have a state of its own, and `alike` for an address.',
    example: 'each',
  },
}

/** One address of several. */
export const instance: Record<'url' | 'weight', Field> = {
  url: {
    type: address('connect'),
    meaning: 'Where it is reached. Needed.',
    example: 'http://127.0.0.1:4002/mcp',
  },
  weight: {
    type: number(0, 1000),
    meaning:
      'Its share of the calls, compared with the others; with 0 it gets calls only if all have 0.',
    default: 1,
    example: 2,
  },
}

/** What a consistent hash is taken of. */
export const hash: Record<'header' | 'argument', Field> = {
  header: {
    type: { kind: 'text', rule: 'header' },
    meaning: 'A header of the call.',
    example: 'x-tenant',
  },
  argument: { type: name, meaning: 'An argument of the tool.', example: 'path' },
}
