/** Who may send a message. */
export type Sender = 'client' | 'server' | 'both'

/** What one method is, in whichever revisions have it. */
export interface MethodRow {
  readonly kind: 'request' | 'notification'
  readonly from: Sender
  /** The capability that the answering side must have declared. */
  readonly capability?: string
  /** Its results carry cache hints where the revision has them. */
  readonly cacheable?: true
  /** Answering it may ask the client for input. */
  readonly mayAsk?: true
  /**
   * What comes of making it twice: nothing, because it only reads, or what came of making it once.
   * Absent where it may be more.
   */
  readonly twice?: 'reads' | 'settles'
  /** The member of its params that HTTP repeats in a header. */
  readonly mirrors?: 'name' | 'uri' | 'taskId'
}

/** One row per method of the protocol, all revisions together. */
export const methods = {
  initialize: { kind: 'request', from: 'client' },
  'notifications/initialized': { kind: 'notification', from: 'client' },
  ping: { kind: 'request', from: 'both', twice: 'reads' },
  'server/discover': { kind: 'request', from: 'client', cacheable: true, twice: 'reads' },
  'tools/list': {
    kind: 'request',
    from: 'client',
    capability: 'tools',
    cacheable: true,
    twice: 'reads',
  },
  'tools/call': {
    kind: 'request',
    from: 'client',
    capability: 'tools',
    mayAsk: true,
    mirrors: 'name',
  },
  'resources/list': {
    kind: 'request',
    from: 'client',
    capability: 'resources',
    cacheable: true,
    twice: 'reads',
  },
  'resources/templates/list': {
    kind: 'request',
    from: 'client',
    capability: 'resources',
    cacheable: true,
    twice: 'reads',
  },
  'resources/read': {
    kind: 'request',
    from: 'client',
    capability: 'resources',
    cacheable: true,
    mayAsk: true,
    mirrors: 'uri',
    twice: 'reads',
  },
  'resources/subscribe': {
    kind: 'request',
    from: 'client',
    capability: 'resources',
    twice: 'settles',
  },
  'resources/unsubscribe': {
    kind: 'request',
    from: 'client',
    capability: 'resources',
    twice: 'settles',
  },
  'prompts/list': {
    kind: 'request',
    from: 'client',
    capability: 'prompts',
    cacheable: true,
    twice: 'reads',
  },
  'prompts/get': {
    kind: 'request',
    from: 'client',
    capability: 'prompts',
    mayAsk: true,
    mirrors: 'name',
    twice: 'reads',
  },
  'completion/complete': {
    kind: 'request',
    from: 'client',
    capability: 'completions',
    twice: 'reads',
  },
  'logging/setLevel': { kind: 'request', from: 'client', capability: 'logging', twice: 'settles' },
  'subscriptions/listen': { kind: 'request', from: 'client' },
  'tasks/get': { kind: 'request', from: 'both', mirrors: 'taskId', twice: 'reads' },
  'tasks/result': { kind: 'request', from: 'both', twice: 'settles' },
  'tasks/list': { kind: 'request', from: 'both', twice: 'reads' },
  'tasks/cancel': { kind: 'request', from: 'both', mirrors: 'taskId' },
  'tasks/update': { kind: 'request', from: 'client', mirrors: 'taskId' },
  'sampling/createMessage': { kind: 'request', from: 'server', capability: 'sampling' },
  'elicitation/create': { kind: 'request', from: 'server', capability: 'elicitation' },
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

export type MethodName = keyof typeof methods

/** The row of a method; undefined for a name the protocol does not have. */
export function methodRow(name: string): MethodRow | undefined {
  return table.get(name)
}

// A Map: the name comes from the other side, and "constructor" is no method.
const table = new Map<string, MethodRow>(Object.entries(methods))
