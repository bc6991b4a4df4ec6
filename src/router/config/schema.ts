import { logLevels } from '../../observe/log/line.ts'
import { limits } from '../../util/limits/limits.ts'
import type { RouterOptions } from '../options.ts'
import {
  address,
  count,
  either,
  type Field,
  flag,
  type Group,
  group,
  list,
  map,
  ms,
  name,
  text,
  words,
} from './field.ts'
import {
  breaker,
  callLimits,
  health,
  restart,
  retry,
  routerLimits,
  serverLimits,
  tools,
} from './schema-policy.ts'
import { hash, instance, server } from './schema-server.ts'

/** Options of a router that a file can say; the others are objects of a program. */
export type RouterField = Exclude<
  keyof RouterOptions,
  'servers' | 'icons' | 'keys' | 'tasks' | 'out' | 'pins' | 'onPinned' | 'clock' | 'onError'
>

/** Where a router is served unless its file says otherwise. */
export const defaultListen = 'http://127.0.0.1:3000/mcp'

type FileField = RouterField | 'mcpServers' | 'servers' | 'listen' | 'public' | 'metrics'

const servers = map('server', group('server'))

const file: Record<FileField | 'logLevel' | 'inputs' | '$schema', Field> = {
  mcpServers: {
    type: servers,
    meaning: 'The servers behind the router, by name: as most hosts write it.',
    example: { files: { command: 'npx', args: ['-y', 'some-mcp-server'] } },
  },
  servers: {
    type: servers,
    meaning: 'The same, as VS Code writes it. One of the two is needed, and not both.',
    example: { search: { type: 'http', url: 'https://mcp.example.com/mcp' } },
  },
  listen: {
    type: either(address('listen'), list(address('listen'), 1)),
    meaning:
      'Where the router is served, at one address or several. Addresses that other machines can reach need `public`.',
    default: defaultListen,
    example: ['http://127.0.0.1:3000/mcp', 'unix:router.sock'],
  },
  public: {
    type: flag,
    meaning:
      'That callers whom nobody has identified may use everything here, with the credentials of its servers, and that it may be reached from other machines.',
    default: false,
    example: true,
  },
  name: {
    type: name,
    meaning: 'What the router calls itself.',
    default: 'trunkline',
    example: 'tools-of-the-team',
  },
  title: { type: name, meaning: 'The same, for people.', example: 'Tools of the team' },
  version: {
    type: name,
    meaning: 'The version that it tells its callers.',
    default: '(that of this package)',
    example: '1.2.0',
  },
  instructions: {
    type: text,
    meaning: 'What callers are told about using it.',
    example: 'Search before you write.',
  },
  pageSize: {
    type: count(1, 10_000),
    meaning: 'Entries on one page of a list.',
    default: limits.pageSize.default,
    example: 100,
  },
  limits: {
    type: group('routerLimits'),
    meaning: 'Limits of all calls together, and of each caller.',
    example: { concurrent: 200, perCaller: { perSecond: 20 } },
  },
  heldMs: {
    type: ms(),
    meaning:
      'How long a call of a stateless caller is held for the answer to a question of its server.',
    default: limits.heldMs.default,
    example: 120_000,
  },
  doubtMs: {
    type: ms(),
    meaning:
      'How long a question of a server that could be that of several callers waits until it is clear whose it is. Then it is refused.',
    default: limits.doubtMs.default,
    example: 2000,
  },
  metrics: {
    type: either(flag, address('metrics')),
    meaning:
      'Figures for Prometheus: `true` serves them at `/metrics` of every HTTP address, an address there alone.',
    default: false,
    example: 'http://127.0.0.1:9090/metrics',
  },
  logLevel: {
    type: words(...logLevels),
    meaning: 'How severe a thing must be to be logged.',
    default: 'info',
    example: 'warn',
  },
  inputs: {
    type: { kind: 'ignored' },
    meaning: "VS Code's questions to its user. Only an empty list is accepted: use variables.",
    example: [],
  },
  $schema: {
    type: { kind: 'ignored' },
    meaning: 'For editors.',
    example: './node_modules/trunkline/schema/trunkline.schema.json',
  },
}

/**
 * Every field of the configuration file. The check of a file, `docs/configuration.md` and
 * `schema/trunkline.schema.json` are made from this table.
 */
export const configGroups: ReadonlyMap<string, Group> = new Map([
  ['file', groupOf('The file', file)],
  ['server', groupOf('A server', server)],
  ['instance', groupOf('An entry of `urls`', instance)],
  ['tools', groupOf('`tools`', tools)],
  ['hash', groupOf('`hash`', hash)],
  ['limits', groupOf('`limits` of a server', serverLimits)],
  ['routerLimits', groupOf('`limits` of the router', routerLimits)],
  ['callLimits', groupOf('`perCaller`, and `limits.tools` of one tool', callLimits)],
  ['breaker', groupOf('`breaker`', breaker)],
  ['restart', groupOf('`restart`', restart)],
  ['retry', groupOf('`retry`', retry)],
  ['health', groupOf('`health`', health)],
])

/** The fields of one group. Throws for a name that the table does not have. */
export function fieldsOf(named: string): ReadonlyMap<string, Field> {
  const found = configGroups.get(named)
  if (found === undefined) throw new TypeError(`there is no group "${named}"`)
  return found.fields
}

function groupOf(title: string, fields: Readonly<Record<string, Field>>): Group {
  return { title, fields: new Map(Object.entries(fields)) }
}
