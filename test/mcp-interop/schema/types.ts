import { isBefore, type Revision, stateless } from '../driver.ts'
import {
  anything,
  base64,
  boolean,
  either,
  fraction,
  id,
  integer,
  list,
  type Members,
  map,
  number,
  object,
  open,
  optional,
  type Shape,
  since,
  string,
  tagged,
  uri,
  word,
} from './shape.ts'

// The types of the protocol in all revisions, as far as they are visible on the wire: which members
// exist, since when, which are required, and what they hold.

export const tasksRevision: Revision = '2025-11-25'

export const meta = optional(open)
const metaSince06 = since('2025-06-18', open)

const role = word('user', 'assistant')

export const logLevel = word(
  ...['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'],
)

const icons = since(
  '2025-11-25',
  list(
    object({
      src: uri,
      mimeType: optional(string),
      sizes: optional(list(string)),
      theme: optional(word('light', 'dark')),
    }),
  ),
)

const title = since('2025-06-18', string)

export const implementation = object({
  name: string,
  version: string,
  title,
  icons,
  description: since('2025-11-25', string),
  websiteUrl: since('2025-11-25', uri),
})

const annotations = optional(
  object({
    audience: optional(list(role)),
    priority: optional(fraction),
    lastModified: since('2025-06-18', string),
  }),
)

const resourceMembers = {
  uri,
  name: string,
  title,
  icons,
  description: optional(string),
  mimeType: optional(string),
  size: optional(integer),
  annotations,
  _meta: metaSince06,
} as const satisfies Members

export const resource = object(resourceMembers)

export const resourceTemplate = object({
  uriTemplate: string,
  name: string,
  title,
  icons,
  description: optional(string),
  mimeType: optional(string),
  annotations,
  _meta: metaSince06,
})

const contentsMembers = { uri, mimeType: optional(string), _meta: metaSince06 } as const

export const resourceContents = either(
  object({ ...contentsMembers, text: string }),
  object({ ...contentsMembers, blob: base64 }),
)

const media = (type: string): Shape =>
  object({ type: word(type), data: base64, mimeType: string, annotations, _meta: metaSince06 })

const spoken = {
  text: object({ type: word('text'), text: string, annotations, _meta: metaSince06 }),
  image: media('image'),
  audio: since('2025-03-26', media('audio')),
}

export const content = tagged('type', {
  ...spoken,
  resource: object({
    type: word('resource'),
    resource: resourceContents,
    annotations,
    _meta: metaSince06,
  }),
  resource_link: since('2025-06-18', object({ ...resourceMembers, type: word('resource_link') })),
})

const jsonSchema = object({
  $schema: since('2025-11-25', string),
  type: word('object'),
  properties: optional((value, place) =>
    map(place.revision === stateless ? anything : open)(value, place),
  ),
  required: optional(list(string)),
})

const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

export const tool = object({
  name: string,
  title,
  icons,
  description: optional(string),
  // A schema has members of its own that no revision lists.
  inputSchema: (value, place) => jsonSchema(value, { ...place, strict: false }),
  outputSchema: since('2025-06-18', (value, place) => {
    const shape = place.revision === stateless ? open : jsonSchema
    shape(value, { ...place, strict: false })
  }),
  annotations: since(
    '2025-03-26',
    object({
      title: optional(string),
      ...Object.fromEntries(hints.map(hint => [hint, optional(boolean)])),
    }),
  ),
  execution: since(
    tasksRevision,
    object({ taskSupport: optional(word('forbidden', 'optional', 'required')) }),
    tasksRevision,
  ),
  _meta: metaSince06,
})

export const prompt = object({
  name: string,
  title,
  icons,
  description: optional(string),
  arguments: optional(
    list(
      object({ name: string, title, description: optional(string), required: optional(boolean) }),
    ),
  ),
  _meta: metaSince06,
})

export const promptMessage = object({ role, content })

export const root = object({ uri, name: optional(string), _meta: metaSince06 })

export const reference = tagged('type', {
  'ref/prompt': object({ type: word('ref/prompt'), name: string, title }),
  'ref/resource': object({ type: word('ref/resource'), uri: string }),
})

export const completion = object({
  values: list(string),
  total: optional(integer),
  hasMore: optional(boolean),
})

const samplingBlock = tagged('type', {
  ...spoken,
  tool_use: since(
    '2025-11-25',
    object({ type: word('tool_use'), id: string, name: string, input: open, _meta: meta }),
  ),
  tool_result: since(
    '2025-11-25',
    object({
      type: word('tool_result'),
      toolUseId: string,
      content: list(content),
      structuredContent: optional(anything),
      isError: optional(boolean),
      _meta: meta,
    }),
  ),
})

export const samplingContent: Shape = (value, place) => {
  const isList = Array.isArray(value) && !isBefore(place.revision, '2025-11-25')
  const shape = isList ? list(samplingBlock) : samplingBlock
  shape(value, place)
}

const samplingMessage = object({
  role,
  content: samplingContent,
  _meta: since('2025-11-25', open),
})

export const taskMetadata = since(tasksRevision, object({ ttl: optional(integer) }), tasksRevision)

export const samplingMembers = {
  messages: list(samplingMessage),
  maxTokens: integer,
  systemPrompt: optional(string),
  includeContext: optional(word('none', 'thisServer', 'allServers')),
  temperature: optional(number),
  stopSequences: optional(list(string)),
  metadata: optional(open),
  modelPreferences: optional(
    object({
      hints: optional(list(object({ name: optional(string) }))),
      costPriority: optional(fraction),
      speedPriority: optional(fraction),
      intelligencePriority: optional(fraction),
    }),
  ),
  tools: since('2025-11-25', list(tool)),
  toolChoice: since('2025-11-25', object({ mode: optional(word('auto', 'required', 'none')) })),
  task: taskMetadata,
} as const satisfies Members

export const samplingResultMembers = {
  role,
  content: samplingContent,
  model: string,
  stopReason: optional(string),
  _meta: meta,
} as const satisfies Members

export const taskMembers = {
  taskId: string,
  status: word('working', 'input_required', 'completed', 'failed', 'cancelled'),
  statusMessage: optional(string),
  createdAt: string,
  lastUpdatedAt: string,
  ttl: (value, place) => {
    if (value !== null) integer(value, place)
  },
  pollInterval: optional(integer),
} as const satisfies Members

const experimental = optional(map(open))

const tasksOf = (requests: Members) =>
  since(
    tasksRevision,
    object({ list: optional(open), cancel: optional(open), requests: optional(object(requests)) }),
    tasksRevision,
  )

/** An object whose members are named from 2025-11-25 on. */
const detailed =
  (members: Members): Shape =>
  (value, place) => {
    const shape = isBefore(place.revision, '2025-11-25') ? open : object(members)
    shape(value, place)
  }

export const clientCapabilities = object({
  experimental,
  roots: optional(object({ listChanged: since('2024-11-05', boolean, tasksRevision) })),
  sampling: optional(detailed({ context: optional(open), tools: optional(open) })),
  elicitation: since('2025-06-18', detailed({ form: optional(open), url: optional(open) })),
  tasks: tasksOf({
    sampling: optional(object({ createMessage: optional(open) })),
    elicitation: optional(object({ create: optional(open) })),
  }),
  extensions: since(stateless, map(open)),
})

const changing = object({ listChanged: optional(boolean) })

export const serverCapabilities = object({
  experimental,
  logging: optional(open),
  completions: since('2025-03-26', open),
  prompts: optional(changing),
  tools: optional(changing),
  resources: optional(object({ listChanged: optional(boolean), subscribe: optional(boolean) })),
  tasks: tasksOf({ tools: optional(object({ call: optional(open) })) }),
  extensions: since(stateless, map(open)),
})

export const filter = object({
  toolsListChanged: optional(boolean),
  promptsListChanged: optional(boolean),
  resourcesListChanged: optional(boolean),
  resourceSubscriptions: optional(list(string)),
})

const key = (name: string): string => `io.modelcontextprotocol/${name}`

/** What each request of the stateless revision declares about its client. */
export const requestMeta: Members = {
  [key('protocolVersion')]: string,
  [key('clientCapabilities')]: clientCapabilities,
  [key('clientInfo')]: optional(implementation),
  [key('logLevel')]: optional(logLevel),
  progressToken: optional(id),
}

export const resultMeta: Members = { [key('serverInfo')]: optional(implementation) }

export const notificationMeta: Members = { [key('subscriptionId')]: optional(id) }

export const listenResultMeta: Members = { ...resultMeta, [key('subscriptionId')]: id }
