import { logLineLevels } from '../../observe/log/line.ts'
import { limits } from '../../util/limits/limits.ts'
import type { RouterOptions } from '../options.ts'
import {
  auditFields,
  policyClaimFields,
  policyConditionFields,
  policyFields,
  policyRuleFields,
  policyWhenFields,
} from './access/fields.ts'
import {
  apiKeysFields,
  authFields,
  introspectionFields,
  jwtFields,
  loginFields,
} from './auth/fields.ts'
import {
  clientCredentialsFields,
  exchangeFields,
  idJagFields,
  idpFields,
  listerFields,
  serverAuthFields,
  userFields,
} from './auth/server-fields.ts'
import { consoleFields } from './console/fields.ts'
import {
  address,
  boolean,
  enumeration,
  type Field,
  type Group,
  group,
  integer,
  list,
  map,
  member,
  ms,
  nonEmpty,
  string,
  union,
} from './field.ts'
import {
  breaker,
  callLimits,
  deadLetters,
  health,
  pool,
  priorityFields,
  restart,
  retry,
  routerLimitFields,
  serverLimitFields,
  toolSearch,
  tools,
} from './schema-policy.ts'
import { hash, instance, serverFields } from './schema-server.ts'
import { callerFields, viewFields, viewTools } from './schema-views.ts'

/** Options of a router that a file can set; the others only make sense in code. */
export type RouterField = Exclude<
  keyof RouterOptions,
  | 'servers'
  | 'icons'
  | 'keys'
  | 'tasks'
  | 'outbound'
  | 'sharedRates'
  | 'policy'
  | 'audit'
  | 'pins'
  | 'onPinned'
  | 'remembered'
  | 'onRemembered'
  | 'clock'
  | 'onError'
>

/** The default listen address. */
export const defaultListen = 'http://127.0.0.1:3000/mcp'

type FileField =
  | RouterField
  | 'mcpServers'
  | 'servers'
  | 'listen'
  | 'tls'
  | 'auth'
  | 'policy'
  | 'audit'
  | 'public'
  | 'metrics'
  | 'console'
  | 'sealingKeys'
  | 'vault'

const servers = map('server', group('server'))

const file: Record<FileField | 'logLevel' | 'inputs' | '$schema', Field> = {
  mcpServers: {
    type: servers,
    meaning: 'The upstream servers by name, under the key that most hosts use.',
    example: { files: { command: 'npx', args: ['-y', 'some-mcp-server'] } },
  },
  servers: {
    type: servers,
    meaning:
      'The upstream servers by name, under the key that VS Code uses. Exactly one of `mcpServers` and `servers` is required.',
    example: { search: { type: 'http', url: 'https://mcp.example.com/mcp' } },
  },
  listen: {
    type: union(address('listen'), list(address('listen'), 1)),
    meaning:
      'One or more addresses to listen at. Addresses that other machines can reach require `auth` or `public`.',
    default: defaultListen,
    example: ['http://127.0.0.1:3000/mcp', 'unix:router.sock'],
  },
  tls: {
    type: group('tls'),
    meaning: 'The certificate for `https:` and `wss:` addresses of `listen`.',
    example: { cert: '/etc/trunkline/cert.pem', key: '/etc/trunkline/key.pem' },
  },
  auth: {
    type: group('auth'),
    meaning:
      'Who may call: callers have to present a token or an API key. Without it everybody who can reach an address may call.',
    default: '(nobody is authenticated)',
    example: {
      jwt: { issuer: 'https://as.example.com' },
      resource: 'https://tools.example.com/mcp',
    },
  },
  policy: {
    type: union(group('policy'), nonEmpty),
    meaning:
      'Which callers may see and use which tools, prompts and resources; or the path of a file that holds this object. Requires `auth`. Changes apply at once.',
    default: '(every caller may use all)',
    example: {
      default: 'deny',
      rules: [{ name: 'reading', allow: ['notes__list', 'search__*'] }],
    },
  },
  audit: {
    type: union(group('audit'), member('file', nonEmpty)),
    meaning:
      'Where every decision on a call is recorded, in lines that cannot be changed unnoticed. A path is the same as `file`.',
    default: '(nothing is recorded)',
    example: 'audit.jsonl',
  },
  public: {
    type: boolean,
    meaning:
      'Whether unauthenticated callers may use all servers with their credentials, and other machines may connect.',
    default: false,
    example: true,
  },
  name: {
    type: nonEmpty,
    meaning: 'The name that the router reports to callers and servers.',
    default: 'trunkline',
    example: 'tools-of-the-team',
  },
  title: {
    type: nonEmpty,
    meaning: 'The display name that the router reports.',
    example: 'Tools of the team',
  },
  version: {
    type: nonEmpty,
    meaning: 'The version that the router reports.',
    default: '(version of this package)',
    example: '1.2.0',
  },
  instructions: {
    type: string,
    meaning: 'Usage instructions for callers.',
    example: 'Search before you write.',
  },
  sealingKeys: {
    type: list(string, 1),
    meaning:
      'Keys that seal the request state and cursors that clients keep, the newest first: at least 32 bytes each, in hexadecimal or base64. By default `TRUNKLINE_KEYS`, else a random key.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
    example: ['${SEALING_KEY}', '${OLD_SEALING_KEY}'],
  },
  vault: {
    type: nonEmpty,
    meaning:
      'Folder for what users have granted (`user` of a server), sealed by `sealingKeys` or `TRUNKLINE_KEYS`, one of which is required. Only its owner may be able to read it.',
    default: '(in memory, so that users are asked again after a restart)',
    example: '/var/lib/trunkline/vault',
  },
  pageSize: {
    type: integer(1, 10_000),
    meaning: 'Entries per page of a list.',
    default: limits.pageSize.default,
    example: 100,
  },
  limits: {
    type: group('routerLimits'),
    meaning: 'Limits of all calls together and of each caller.',
    example: { concurrent: 200, perCaller: { perSecond: 20 } },
  },
  toolSearch: {
    type: group('toolSearch'),
    meaning:
      'Replaces a long list of tools by two: `search_tools` finds tools, and `call_tool` calls them. `{}` turns it on.',
    default: '(every tool is listed)',
    example: { above: 100, visible: ['files__*'] },
  },
  views: {
    type: map('view', group('view')),
    meaning:
      'Parts of the router, by name: some of its servers and tools, for some callers or at an address of their own.',
    default: '(every caller has all tools)',
    example: { dev: { tools: { allow: ['git*__*'] }, listen: 'http://127.0.0.1:3001/mcp' } },
  },
  concurrentStarts: {
    type: integer(1, 1000),
    meaning: 'Server processes that start at the same time. The others start in turn.',
    default: '(two per processor core)',
    example: 4,
  },
  startWaitMs: {
    type: ms(),
    meaning:
      'How long calls and first lists wait for a server while it starts, where the server does not say so itself.',
    default: '(`connectTimeoutMs` for the first start, 5 s for a restart)',
    example: 4000,
  },
  parkedMs: {
    type: ms(),
    meaning:
      'How long a call of a stateless caller stays parked for the response to a server request.',
    default: limits.parkedMs.default,
    example: 120_000,
  },
  attributionTimeoutMs: {
    type: ms(),
    meaning:
      'How long a server request that could belong to several callers waits to be attributed to one of them. Then it is rejected.',
    default: limits.attributionTimeoutMs.default,
    example: 2000,
  },
  priorities: {
    type: list(group('priorities')),
    meaning:
      'Priorities of calls that wait for a `concurrent` limit. The first rule that matches a call decides.',
    default: [],
    example: [{ principal: 'batch-*', priority: 'low' }],
  },
  deadLetters: {
    type: group('deadLetters'),
    meaning: 'Which refused and undeliverable calls the router keeps for inspection.',
    example: { max: 100 },
  },
  metrics: {
    type: union(boolean, address('metrics')),
    meaning:
      'Prometheus metrics: `true` serves them at `/metrics` of every HTTP listen address, an address only there.',
    default: false,
    example: 'http://127.0.0.1:9090/metrics',
  },
  logLevel: {
    type: enumeration(...logLineLevels),
    meaning: 'Minimum severity of log messages.',
    default: 'info',
    example: 'warn',
  },
  console: {
    type: union(boolean, group('console'), member('address', address('metrics'))),
    meaning:
      'The console: a page that shows what the router does. `true` serves it at `/console/` of the HTTP addresses of `listen` that only this machine reaches, `false` nowhere.',
    default: '(`true` on a terminal)',
    example: 'http://127.0.0.1:9091',
  },
  inputs: {
    type: { kind: 'ignored' },
    meaning:
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the form of a reference
      'Inputs of VS Code, which `${input:ID}` refers to: values that the user provides on a terminal, or in the environment variable `INPUT_ID`.',
    example: [{ type: 'promptString', id: 'api-key', password: true }],
  },
  $schema: {
    type: { kind: 'ignored' },
    meaning: 'JSON Schema of the file, for editors.',
    example: './node_modules/trunkline/schema/trunkline.schema.json',
  },
}

const tls: Readonly<Record<string, Field>> = {
  cert: {
    type: nonEmpty,
    meaning: 'Path of the certificate, in PEM form, followed by those of intermediate authorities.',
    example: '/etc/trunkline/cert.pem',
  },
  key: {
    type: nonEmpty,
    meaning: 'Path of its private key, in PEM form.',
    example: '/etc/trunkline/key.pem',
  },
}

/**
 * Every field of the configuration file, by group. Validation, `docs/configuration.md` and
 * `schema/trunkline.schema.json` are derived from this table.
 */
export const configGroups: ReadonlyMap<string, Group> = new Map([
  ['file', groupOf('The file', file)],
  ['tls', groupOf('`tls`', tls)],
  ['auth', groupOf('`auth`', authFields)],
  ['jwt', groupOf('`jwt`', jwtFields)],
  ['introspection', groupOf('`introspection`', introspectionFields)],
  ['apiKeys', groupOf('`apiKeys`', apiKeysFields)],
  ['login', groupOf('`login`', loginFields)],
  ['policy', groupOf('`policy`', policyFields)],
  ['policyRule', groupOf('An entry of `rules`', policyRuleFields)],
  ['policyCondition', groupOf('`who` and `unless`', policyConditionFields)],
  ['policyWhen', groupOf('`when`', policyWhenFields)],
  ['policyClaim', groupOf('`is`', policyClaimFields)],
  ['audit', groupOf('`audit`', auditFields)],
  ['console', groupOf('`console`', consoleFields)],
  ['server', groupOf('A server', serverFields)],
  ['instance', groupOf('An entry of `urls`', instance)],
  ['serverAuth', groupOf('`auth` of a server', serverAuthFields)],
  ['lister', groupOf('`lister`', listerFields)],
  ['exchange', groupOf('`exchange`', exchangeFields)],
  ['idJag', groupOf('`idJag`', idJagFields)],
  ['idp', groupOf('`idp`', idpFields)],
  ['user', groupOf('`user`', userFields)],
  ['clientCredentials', groupOf('`clientCredentials`', clientCredentialsFields)],
  ['tools', groupOf('`tools`', tools)],
  ['hash', groupOf('`hash`', hash)],
  ['limits', groupOf('`limits` of a server', serverLimitFields)],
  ['toolSearch', groupOf('`toolSearch`', toolSearch)],
  ['view', groupOf('An entry of `views`', viewFields)],
  ['viewTools', groupOf('`tools` of a view', viewTools)],
  ['callers', groupOf('An entry of `callers`', callerFields)],
  ['routerLimits', groupOf('`limits` of the router', routerLimitFields)],
  ['callLimits', groupOf('`perCaller`, and `limits.tools` of one tool', callLimits)],
  ['breaker', groupOf('`breaker`', breaker)],
  ['restart', groupOf('`restart`', restart)],
  ['retry', groupOf('`retry`', retry)],
  ['health', groupOf('`health`', health)],
  ['pool', groupOf('`pool`', pool)],
  ['priorities', groupOf('An entry of `priorities`', priorityFields)],
  ['deadLetters', groupOf('`deadLetters`', deadLetters)],
])

/** Returns the fields of a group. Throws a TypeError for an unknown group. */
export function fieldsOf(named: string): ReadonlyMap<string, Field> {
  const found = configGroups.get(named)
  if (found === undefined) throw new TypeError(`unknown group "${named}"`)
  return found.fields
}

function groupOf(title: string, fields: Readonly<Record<string, Field>>): Group {
  return { title, fields: new Map(Object.entries(fields)) }
}
