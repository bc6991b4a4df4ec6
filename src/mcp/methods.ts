/** Which side may send a message. */
export type Sender = 'client' | 'server' | 'both'

/** Properties of one method, the same in every revision that has it. */
export interface MethodRow {
  readonly kind: 'request' | 'notification'
  readonly from: Sender
  /** The capability that the receiving side must declare. */
  readonly capability?: string
  /** Whether its results carry cache hints, in revisions that have them. */
  readonly cacheable?: true
  /** Whether its handler may request input from the client. */
  readonly mayRequestInput?: true
  /** Whether its sender may ask for a task instead of a result, in revisions that have tasks. */
  readonly mayBeTask?: true
  /**
   * Why sending it twice is harmless: it only reads, or the second time has no further effect.
   * Absent if sending it twice may have two effects.
   */
  readonly repeatable?: 'reads' | 'idempotent'
  /** The member of its params that names the tool, prompt, resource or task it is about. */
  readonly subject?: 'name' | 'uri' | 'taskId'
  /** Whether HTTP clients repeat the subject in a header. */
  readonly isMirrored?: true
  /** The array that its result must have. */
  readonly items?: string
  /** The list that its result is part of: `notifications/…/list_changed` makes it out of date. */
  readonly list?: 'tools' | 'prompts' | 'resources'
}

/** One row per method of the protocol, all revisions together. */
export const mcpMethods = {
  initialize: { kind: 'request', from: 'client' },
  'notifications/initialized': { kind: 'notification', from: 'client' },
  ping: { kind: 'request', from: 'both', repeatable: 'reads' },
  'server/discover': {
    kind: 'request',
    from: 'client',
    cacheable: true,
    repeatable: 'reads',
    items: 'supportedVersions',
  },
  'tools/list': {
    kind: 'request',
    from: 'client',
    capability: 'tools',
    cacheable: true,
    repeatable: 'reads',
    items: 'tools',
    list: 'tools',
  },
  'tools/call': {
    kind: 'request',
    from: 'client',
    capability: 'tools',
    mayRequestInput: true,
    mayBeTask: true,
    subject: 'name',
    isMirrored: true,
  },
  'resources/list': {
    kind: 'request',
    from: 'client',
    capability: 'resources',
    cacheable: true,
    repeatable: 'reads',
    items: 'resources',
    list: 'resources',
  },
  'resources/templates/list': {
    kind: 'request',
    from: 'client',
    capability: 'resources',
    cacheable: true,
    repeatable: 'reads',
    items: 'resourceTemplates',
    list: 'resources',
  },
  'resources/read': {
    kind: 'request',
    from: 'client',
    capability: 'resources',
    cacheable: true,
    mayRequestInput: true,
    subject: 'uri',
    isMirrored: true,
    repeatable: 'reads',
    items: 'contents',
  },
  'resources/subscribe': {
    kind: 'request',
    from: 'client',
    capability: 'resources',
    repeatable: 'idempotent',
    subject: 'uri',
  },
  'resources/unsubscribe': {
    kind: 'request',
    from: 'client',
    capability: 'resources',
    repeatable: 'idempotent',
    subject: 'uri',
  },
  'prompts/list': {
    kind: 'request',
    from: 'client',
    capability: 'prompts',
    cacheable: true,
    repeatable: 'reads',
    items: 'prompts',
    list: 'prompts',
  },
  'prompts/get': {
    kind: 'request',
    from: 'client',
    capability: 'prompts',
    mayRequestInput: true,
    subject: 'name',
    isMirrored: true,
    repeatable: 'reads',
    items: 'messages',
  },
  'completion/complete': {
    kind: 'request',
    from: 'client',
    capability: 'completions',
    repeatable: 'reads',
  },
  'logging/setLevel': {
    kind: 'request',
    from: 'client',
    capability: 'logging',
    repeatable: 'idempotent',
  },
  // The skills extension, whose capability is that of the extension. The files of skills are resources, so
  // their lists change together.
  'skills/list': {
    kind: 'request',
    from: 'client',
    capability: 'skills',
    cacheable: true,
    repeatable: 'reads',
    items: 'skills',
    list: 'resources',
  },
  'skills/get': {
    kind: 'request',
    from: 'client',
    capability: 'skills',
    cacheable: true,
    repeatable: 'reads',
    list: 'resources',
  },
  'resources/directory/read': {
    kind: 'request',
    from: 'client',
    capability: 'skills',
    repeatable: 'reads',
    items: 'resources',
  },
  'subscriptions/listen': { kind: 'request', from: 'client' },
  'tasks/get': {
    kind: 'request',
    from: 'both',
    subject: 'taskId',
    isMirrored: true,
    repeatable: 'reads',
  },
  'tasks/result': { kind: 'request', from: 'both', repeatable: 'idempotent' },
  'tasks/list': { kind: 'request', from: 'both', repeatable: 'reads', items: 'tasks' },
  'tasks/cancel': { kind: 'request', from: 'both', subject: 'taskId', isMirrored: true },
  'tasks/update': { kind: 'request', from: 'client', subject: 'taskId', isMirrored: true },
  // The server requests: code that treats them alike reads these rows.
  'sampling/createMessage': {
    kind: 'request',
    from: 'server',
    capability: 'sampling',
    mayBeTask: true,
  },
  'elicitation/create': {
    kind: 'request',
    from: 'server',
    capability: 'elicitation',
    mayBeTask: true,
  },
  'roots/list': { kind: 'request', from: 'server', capability: 'roots' },
  'notifications/cancelled': { kind: 'notification', from: 'both' },
  'notifications/progress': { kind: 'notification', from: 'both' },
  'notifications/message': { kind: 'notification', from: 'server' },
  'notifications/tools/list_changed': { kind: 'notification', from: 'server' },
  'notifications/prompts/list_changed': { kind: 'notification', from: 'server' },
  'notifications/resources/list_changed': { kind: 'notification', from: 'server' },
  'notifications/resources/updated': { kind: 'notification', from: 'server' },
  'notifications/roots/list_changed': { kind: 'notification', from: 'client' },
  'notifications/elicitation/complete': { kind: 'notification', from: 'server' },
  'notifications/tasks/status': { kind: 'notification', from: 'both' },
  'notifications/tasks': { kind: 'notification', from: 'server' },
  'notifications/subscriptions/acknowledged': { kind: 'notification', from: 'server' },
} as const satisfies Record<string, MethodRow>

export type MethodName = keyof typeof mcpMethods

/** The methods whose results carry cache hints. */
export type CacheableMethod = {
  [M in MethodName]: (typeof mcpMethods)[M] extends { cacheable: true } ? M : never
}[MethodName]

/** Returns the row of a method, or undefined if the protocol has no such method. */
export function methodRow(name: string): MethodRow | undefined {
  return table.get(name)
}

/** Returns the member of a method's params that HTTP clients repeat in a header; undefined if there is none. */
export function mirroredParam(name: string): MethodRow['subject'] {
  const row = table.get(name)
  return row?.isMirrored ? row.subject : undefined
}

// A Map, because the name comes from the peer and "constructor" is not a method.
const table = new Map<string, MethodRow>(Object.entries(mcpMethods))

/** The requests that a server sends to its client: elicitation, sampling and roots. */
export type ServerRequestMethod = {
  [M in MethodName]: (typeof mcpMethods)[M] extends { kind: 'request'; from: 'server' } ? M : never
}[MethodName]

/** The client capabilities of the server requests. */
export type ServerRequestCapability = (typeof mcpMethods)[ServerRequestMethod]['capability']

/** Whether a method is a request that only servers send. */
export function isServerRequest(name: string): name is ServerRequestMethod {
  const row = table.get(name)
  return row?.kind === 'request' && row.from === 'server'
}

/** All server requests. */
export const serverRequestMethods: readonly ServerRequestMethod[] = [...table.keys()].filter(
  isServerRequest,
)

const serverRequestCapabilities: readonly ServerRequestCapability[] = serverRequestMethods.map(
  method => mcpMethods[method].capability,
)

/** Whether a client with these capabilities takes any server request. */
export function takesServerRequests(
  capabilities: Readonly<Partial<Record<ServerRequestCapability, unknown>>>,
): boolean {
  for (const name of serverRequestCapabilities) if (capabilities[name] !== undefined) return true
  return false
}

/**
 * Returns where `capabilities.tasks.requests` says that a server request may be a task: under
 * `elicitation`, as `create`, for `elicitation/create`. Undefined for a request that cannot be one.
 */
export function taskCapability(
  method: ServerRequestMethod,
): { readonly area: string; readonly action: string } | undefined {
  if (table.get(method)?.mayBeTask === undefined) return undefined
  const [area = '', action = ''] = method.split('/')
  return { area, action }
}
