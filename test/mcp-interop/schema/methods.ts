import { type Revision, revisions, type Side, stateless } from '../driver.ts'
import { elicitResultMembers, formMembers, visitMembers } from './elicitation-types.ts'
import {
  anything,
  boolean,
  either,
  id,
  isRecord,
  list,
  type Member,
  type Members,
  map,
  natural,
  neededSince,
  number,
  object,
  open,
  optional,
  type Shape,
  since,
  string,
  tagged,
  word,
} from './shape.ts'
import * as t from './types.ts'

const lastSession: Revision = '2025-11-25'

/** A request or notification: its sender, its revisions, and its params. */
export interface Method {
  readonly from: readonly Side[]
  readonly since?: Revision
  readonly until?: Revision
  readonly params: Member
}

export interface RequestMethod extends Method {
  readonly result: Shape
}

// Members of `_meta` are open to everyone: only those with a meaning here are checked.
const metaOf = (members: Members): Shape => {
  const shape = object(members)
  return (value, place) => shape(value, { ...place, strict: false })
}

const sessionMeta = metaOf({ progressToken: optional(id) })
const statelessMeta = metaOf(t.requestMeta)

const requestMeta: Member = {
  shape: (value, place) =>
    (place.revision === stateless ? statelessMeta : sessionMeta)(value, place),
  needed: [stateless],
}

const isOptional = (member: Shape | Member): boolean =>
  typeof member !== 'function' && member.needed === false

/** Params are required where one of their members is. */
function paramsOf(members: Members, meta: Member): Member {
  const needed = !Object.values(members).every(isOptional)
  return {
    shape: object({ ...members, _meta: meta }),
    needed: needed || meta.needed,
  }
}

interface ResultRules {
  /** May be cached, and says for how long. */
  readonly cacheable?: boolean
  /** May request input from the client instead. */
  readonly mayRequestInput?: boolean
}

function resultOf(members: Members, { cacheable, mayRequestInput }: ResultRules = {}): Shape {
  const complete = object({
    ...members,
    ...(cacheable && {
      ttlMs: neededSince(stateless, natural),
      cacheScope: neededSince(stateless, word('public', 'private')),
    }),
    resultType: neededSince(stateless, word('complete')),
    _meta: optional(metaOf(t.resultMeta)),
  })
  if (!mayRequestInput) return complete
  return (value, place) => {
    const asks = isRecord(value) && value.resultType === 'input_required'
    if (asks) inputRequired(value, place)
    else complete(value, place)
  }
}

const request = (
  from: readonly Side[],
  params: Members,
  result: Shape,
  range: { readonly since?: Revision; readonly until?: Revision } = {},
): RequestMethod => ({
  from,
  params: paramsOf(params, requestMeta),
  result,
  ...range,
})

const server: readonly Side[] = ['server']
const client: readonly Side[] = ['client']
const anyone: readonly Side[] = ['client', 'server']

const inSessions = { until: lastSession }
const onlyStateless = { since: stateless }
const onlyTasks = { since: lastSession, until: lastSession }

const page = { cursor: optional(string) }
const nextPage = { nextCursor: optional(string) }
const retry = {
  inputResponses: since(stateless, map(inputResponse)),
  requestState: since(stateless, string),
}

const elicitParams: Shape = (value, place) => {
  const visits = isRecord(value) && value.mode === 'url'
  object(visits ? visit : form)(value, place)
}
const elicitMeta = { _meta: optional(sessionMeta) }
const form = { ...formMembers, ...elicitMeta }
const visit = { ...visitMembers, ...elicitMeta }

const rootsResult = { roots: list(t.root) }

const inputRequest = tagged('method', {
  'elicitation/create': object({ method: word('elicitation/create'), params: elicitParams }),
  'sampling/createMessage': object({
    method: word('sampling/createMessage'),
    params: object(t.samplingMembers),
  }),
  'roots/list': object({ method: word('roots/list'), params: optional(object({ _meta: t.meta })) }),
})

const inputMembers = object({
  resultType: word('input_required'),
  inputRequests: optional(map(inputRequest)),
  requestState: optional(string),
  _meta: optional(metaOf(t.resultMeta)),
})

function inputRequired(...[value, place]: Parameters<Shape>): void {
  inputMembers(value, place)
  const asks = isRecord(value) && (value.inputRequests ?? value.requestState) !== undefined
  if (!asks) place.problems.push(`${place.path} asks for nothing`)
}

function inputResponse(...args: Parameters<Shape>): void {
  either(object(elicitResultMembers), object(t.samplingResultMembers), object(rootsResult))(...args)
}

const callResult = resultOf(
  {
    content: list(t.content),
    structuredContent: since('2025-06-18', (value, place) => {
      if (place.revision !== stateless) open(value, place)
    }),
    isError: optional(boolean),
  },
  { mayRequestInput: true },
)
const newTask = object({ task: object(t.taskMembers), _meta: t.meta })

const task = { taskId: string }
const taskResult = object({ ...t.taskMembers, _meta: t.meta })
const empty = resultOf({})

/** The requests of all revisions. */
export const requests: ReadonlyMap<string, RequestMethod> = new Map(
  Object.entries({
    initialize: request(
      client,
      {
        protocolVersion: string,
        capabilities: t.clientCapabilities,
        clientInfo: t.implementation,
      },
      resultOf({
        protocolVersion: string,
        capabilities: t.serverCapabilities,
        serverInfo: t.implementation,
        instructions: optional(string),
      }),
      inSessions,
    ),
    ping: request(anyone, {}, empty, inSessions),
    'tools/list': request(
      client,
      page,
      resultOf({ tools: list(t.tool), ...nextPage }, { cacheable: true }),
    ),
    'tools/call': request(
      client,
      { name: string, arguments: optional(open), task: t.taskMetadata, ...retry },
      (value, place) => {
        const isTask = place.revision === lastSession && isRecord(value) && 'task' in value
        const shape = isTask ? newTask : callResult
        shape(value, place)
      },
    ),
    'resources/list': request(
      client,
      page,
      resultOf({ resources: list(t.resource), ...nextPage }, { cacheable: true }),
    ),
    'resources/templates/list': request(
      client,
      page,
      resultOf({ resourceTemplates: list(t.resourceTemplate), ...nextPage }, { cacheable: true }),
    ),
    'resources/read': request(
      client,
      { uri: string, ...retry },
      resultOf({ contents: list(t.resourceContents) }, { cacheable: true, mayRequestInput: true }),
    ),
    'resources/subscribe': request(client, { uri: string }, empty, inSessions),
    'resources/unsubscribe': request(client, { uri: string }, empty, inSessions),
    'prompts/list': request(
      client,
      page,
      resultOf({ prompts: list(t.prompt), ...nextPage }, { cacheable: true }),
    ),
    'prompts/get': request(
      client,
      { name: string, arguments: optional(map(string)), ...retry },
      resultOf(
        { description: optional(string), messages: list(t.promptMessage) },
        { mayRequestInput: true },
      ),
    ),
    'completion/complete': request(
      client,
      {
        ref: t.reference,
        argument: object({ name: string, value: string }),
        context: since('2025-06-18', object({ arguments: optional(map(string)) })),
      },
      resultOf({ completion: t.completion }),
    ),
    'logging/setLevel': request(client, { level: t.logLevel }, empty, inSessions),
    'sampling/createMessage': request(
      server,
      t.samplingMembers,
      object(t.samplingResultMembers),
      inSessions,
    ),
    'roots/list': request(server, {}, object({ ...rootsResult, _meta: t.meta }), inSessions),
    'elicitation/create': {
      from: server,
      since: '2025-06-18',
      until: lastSession,
      params: { shape: elicitParams, needed: true },
      result: object({ ...elicitResultMembers, _meta: t.meta }),
    },
    'tasks/get': request(anyone, task, taskResult, onlyTasks),
    'tasks/result': request(anyone, task, open, onlyTasks),
    'tasks/cancel': request(anyone, task, taskResult, onlyTasks),
    'tasks/list': request(
      anyone,
      page,
      resultOf({ tasks: list(object(t.taskMembers)), ...nextPage }),
      onlyTasks,
    ),
    'server/discover': request(
      client,
      {},
      resultOf(
        {
          supportedVersions: list(string),
          capabilities: t.serverCapabilities,
          instructions: optional(string),
        },
        { cacheable: true },
      ),
      onlyStateless,
    ),
    'subscriptions/listen': request(
      client,
      { notifications: t.filter },
      object({ resultType: word('complete'), _meta: metaOf(t.listenResultMeta) }),
      onlyStateless,
    ),
  } satisfies Record<string, RequestMethod>),
)

const notification = (
  from: readonly Side[],
  params: Members,
  range: { readonly since?: Revision; readonly until?: Revision } = {},
): Method => ({
  from,
  params: paramsOf(params, optional(metaOf(t.notificationMeta))),
  ...range,
})

/** The notifications of all revisions. */
export const notifications: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    'notifications/initialized': notification(client, {}, inSessions),
    'notifications/cancelled': notification(anyone, {
      // For a task, 2025-11-25 allows it without an id.
      requestId: { shape: id, needed: revisions.filter(it => it !== lastSession) },
      reason: optional(string),
    }),
    'notifications/progress': notification(anyone, {
      progressToken: id,
      progress: number,
      total: optional(number),
      message: since('2025-03-26', string),
    }),
    'notifications/message': notification(server, {
      level: t.logLevel,
      logger: optional(string),
      data: anything,
    }),
    'notifications/resources/updated': notification(server, { uri: string }),
    'notifications/resources/list_changed': notification(server, {}),
    'notifications/tools/list_changed': notification(server, {}),
    'notifications/prompts/list_changed': notification(server, {}),
    'notifications/roots/list_changed': notification(client, {}, inSessions),
    'notifications/elicitation/complete': notification(
      server,
      { elicitationId: string },
      onlyTasks,
    ),
    'notifications/tasks/status': notification(anyone, t.taskMembers, onlyTasks),
    'notifications/subscriptions/acknowledged': notification(
      server,
      { notifications: t.filter },
      onlyStateless,
    ),
  } satisfies Record<string, Method>),
)
