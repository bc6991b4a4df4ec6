import { absent, type Difference } from './compare.ts'
import { type KnownDifference, kindOf, type Pair, type Place } from './known-difference.ts'
import { everythingDifferences } from './known-everything.ts'

const draft7 = 'http://json-schema.org/draft-07/schema#'
const schemas: readonly Place[] = [['tools/list:*Schema.$schema', draft7, absent]]
const plain: readonly Place[] = [['tools/list:*.execution', { taskSupport: 'forbidden' }, absent]]
const logging: Place = ['initialize:.response.result.capabilities.logging', absent, {}]
const invalid: Place = [
  '*:.response.result.content.0.text',
  /^MCP error -32602: Input validation error: Invalid arguments for tool /,
  /^Invalid arguments for tool "[\w-]+": \w+: /,
]
const unknownTool = (step: string): readonly Place[] => [
  [
    `${step}:.response.result`,
    /^\{"content":\[.*"MCP error -32602: Tool \w+ not found".*true\}$/,
    absent,
  ],
  [`${step}:.response.error`, absent, /^\{"code":-32602,.*"kind":"tool_not_found"\}\}$/],
]
const prefix = /^MCP error -32\d\d\d: /

export const knownDifferences: readonly KnownDifference[] = [
  {
    what: 'the dialect of schemas',
    original: '`$schema`: draft 7',
    port: 'not named: 2020-12',
    because: 'the default of the protocol; the schemas are equal otherwise',
    places: {
      memory: schemas,
      filesystem: schemas,
      everything: schemas,
      'everything, capable client': schemas,
    },
  },
  {
    what: 'tools that cannot run as tasks',
    original: '`taskSupport: forbidden`',
    port: 'nothing',
    because: 'the default of the protocol',
    places: {
      memory: plain,
      filesystem: plain,
      everything: plain,
      'everything, capable client': plain,
    },
  },
  {
    what: 'capabilities',
    original: 'what the author declares',
    port: '`logging`, and `listChanged` of every list',
    because: 'built in: handlers can log, and definitions can change',
    places: {
      memory: [
        logging,
        ['set a log level:.response.error', { code: -32601, message: 'Method not found' }, absent],
        ['set a log level:.response.result', absent, {}],
      ],
      filesystem: [logging],
      'filesystem, roots': [logging],
      chart: [logging, ['initialize:*.tools.listChanged', absent, true]],
    },
  },
  {
    what: 'invalid arguments of a tool',
    original: '"MCP error -32602: Input validation error: …"',
    port: '"Invalid arguments for tool …", with the path first',
    because: 'a model reads it, which needs no code',
    places: {
      memory: [invalid],
      filesystem: [invalid],
      everything: [invalid],
      'everything, capable client': [invalid],
    },
  },
  {
    what: 'an unknown tool',
    original: 'a result with `isError`; chart: -32601',
    port: '-32602 with `data.tool`',
    because: 'the specification; a model cannot correct it',
    places: {
      memory: unknownTool('forget {}'),
      filesystem: unknownTool('burn {}'),
      chart: [
        ['generate_nothing*.code', -32601, -32602],
        [
          'generate_nothing*.message',
          'MCP error -32601: Unknown tool: generate_nothing.',
          'Tool not found: generate_nothing',
        ],
        kindOf('generate_nothing {}', 'tool_not_found'),
      ],
    },
  },
  {
    what: 'an unknown resource',
    original: '-32602, or what the handler throws; any URI can be subscribed to',
    port: '-32002 with `data.uri`, also for a subscription',
    because: 'the specification',
    places: {
      memory: [
        ['read an unknown resource:*.code', -32602, -32002],
        ['read an unknown resource:*.message', prefix, 'Resource not found: memory://nothing'],
        kindOf('read an unknown resource', 'resource_not_found'),
        ['subscribe to an unknown one:.response.result', {}, absent],
        [
          'subscribe to an unknown one:.response.error',
          absent,
          /^\{"code":-32002,.*"kind":"resource_not_found"\}\}$/,
        ],
      ],
      everything: [
        ['read demo://resource/none:*.code', -32602, -32002],
        ['read demo://resource/none:*.message', prefix, 'Resource not found: demo://resource/none'],
        kindOf('read demo://resource/none', 'resource_not_found'),
        ['read demo://resource/dynamic/text/x:*.code', -32603, -32002],
        [
          'read demo://resource/dynamic/text/x:*.message',
          'Unknown resource: demo://resource/dynamic/text/x',
          'Resource not found: demo://resource/dynamic/text/x',
        ],
        kindOf('read demo://resource/dynamic/text/x', 'resource_not_found'),
      ],
    },
  },
  {
    what: 'other errors',
    original: 'the message begins with "MCP error", no data',
    port: 'the message alone, and `data.kind`',
    because: 'programs read the kind, people the message',
    places: {
      memory: [
        kindOf('prompts/list', 'method_not_found'),
        kindOf('an unknown method', 'method_not_found'),
        kindOf('complete', 'method_not_found'),
      ],
      filesystem: [kindOf('resources/list', 'method_not_found')],
      everything: [
        ['none {}:*.message', prefix, 'Prompt not found: none'],
        kindOf('none {}', 'prompt_not_found'),
        ['complete city of none*.message', prefix, 'Prompt not found: none'],
        kindOf('complete city of none*', 'prompt_not_found'),
        ['args-prompt {}:*.message', prefix, 'Prompt argument missing: args-prompt: city'],
        kindOf('args-prompt {}', 'prompt_argument_missing'),
      ],
      'everything, capable client': [
        [
          'trigger-url-elicitation*:.response.error.message',
          'MCP error -32042: This request requires browser-based authorization.',
          'This request requires browser-based authorization.',
        ],
        ['trigger-url-elicitation*:*.error.data.kind', absent, 'url_elicitation_required'],
        ['research*:.cancelled.error.message', prefix, 'The task is already completed'],
        ['research*:.cancelled.error.data', absent, /"kind":"task_already_completed"/],
        ['an unknown task:*.message', prefix, 'Task not found'],
        kindOf('an unknown task', 'task_not_found'),
      ],
    },
  },
  ...everythingDifferences,
  {
    what: 'arguments of a chart',
    original: 'not checked, because the schemas are looked up before they are loaded',
    port: 'checked, and filled in with their defaults',
    because: 'what the schema says holds',
    places: {
      chart: [
        [
          'generate_*:.response.result._meta.spec.*',
          absent,
          /^(true|false|0|400|600|default|center|circle|vertical|)$/,
        ],
        ['generate_*:.response.result.content.0.text', /^https:/, /^(Invalid|\[)/],
        ['generate_*:.response.result.isError', absent, true],
        ['generate_*:.response.result._meta', /^\{"description":/, absent],
      ],
    },
  },
  {
    what: 'a chart that cannot be drawn',
    original: '-32603',
    port: 'a result with `isError`',
    because: 'the model can read it and try again',
    places: {
      chart: [
        ['generate_*:.response.error', /^\{"code":-32603,.*Failed to generate chart: /, absent],
        [
          'generate_*:.response.result',
          absent,
          /^\{"content":.*"Failed to generate chart: .*"isError":true\}$/,
        ],
      ],
    },
  },
]

/** The differences that are known for a pair of servers. */
export function knownFor(pair: Pair): readonly Difference[] {
  return knownDifferences.flatMap(({ places }) =>
    (places[pair] ?? []).map(([at, original, port]) => ({ at, original, port })),
  )
}
