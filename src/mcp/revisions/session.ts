import type { MethodName } from '../methods.ts'
import type { Features, Revision, RevisionName } from './revision.ts'

const first = [
  'initialize',
  'notifications/initialized',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'sampling/createMessage',
  'roots/list',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/message',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/roots/list_changed',
] as const satisfies readonly MethodName[]

const tasks = [
  'tasks/get',
  'tasks/result',
  'tasks/list',
  'tasks/cancel',
  'notifications/tasks/status',
] as const satisfies readonly MethodName[]

const plain: Features = {
  identity: 'session',
  sessions: true,
  serverRequests: 'call',
  subscriptions: 'session',
  logLevel: 'session',
  liveness: 'ping',
  cancellation: 'notification',
  resultTypes: false,
  cacheHints: false,
  emptyCursors: false,
  capabilityErrors: false,
  toolAnnotations: false,
  audio: false,
  resourceLinks: false,
  titles: false,
  reservedPrefixes: 'none',
  icons: false,
  structured: 'none',
  inputErrors: 'error',
  elicitation: 'none',
  elicitationIds: false,
  richForms: false,
  samplingTools: false,
  completionContext: false,
  completionsCapability: false,
  progressMessages: false,
  namelessErrors: false,
  tasks: 'none',
  extensions: false,
  polling: false,
  versionHeader: false,
  paramHeaders: false,
}

const annotated: Features = {
  ...plain,
  toolAnnotations: true,
  audio: true,
  completionsCapability: true,
  progressMessages: true,
}

const structured: Features = {
  ...annotated,
  resourceLinks: true,
  titles: true,
  reservedPrefixes: 'any label',
  structured: 'object',
  elicitation: 'form',
  completionContext: true,
  versionHeader: true,
}

const tasked: Features = {
  ...structured,
  reservedPrefixes: 'second label',
  icons: true,
  inputErrors: 'result',
  elicitation: 'form and url',
  elicitationIds: true,
  richForms: true,
  samplingTools: true,
  namelessErrors: true,
  tasks: 'core',
  polling: true,
}

/** The revisions whose connections start with `initialize`, oldest first. */
export const sessionRevisions: readonly Revision[] = [
  revision('2024-11-05', plain, first),
  { ...revision('2025-03-26', annotated, first), batches: true },
  revision('2025-06-18', structured, [...first, 'elicitation/create']),
  revision('2025-11-25', tasked, [
    ...first,
    ...tasks,
    'elicitation/create',
    'notifications/elicitation/complete',
  ]),
]

function revision(
  name: RevisionName,
  features: Features,
  methods: readonly MethodName[],
): Revision {
  return { name, era: 'session', batches: false, methods: new Set(methods), features }
}
