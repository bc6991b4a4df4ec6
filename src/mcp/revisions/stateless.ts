import type { MethodName } from '../methods.ts'
import type { Revision } from './revision.ts'

const methods = [
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'subscriptions/listen',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/message',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/subscriptions/acknowledged',
  // Of the tasks extension, which both sides must have declared.
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
  'notifications/tasks',
] as const satisfies readonly MethodName[]

/** The revisions in which every request speaks for itself, oldest first. */
export const statelessRevisions: readonly Revision[] = [
  {
    name: '2026-07-28',
    era: 'stateless',
    batches: false,
    methods: new Set<string>(methods),
    features: {
      toolAnnotations: true,
      audio: true,
      resourceLinks: true,
      titles: true,
      reservedPrefixes: 'second label',
      icons: true,
      structured: 'any',
      inputErrors: 'result',
      elicitation: 'form and url',
      richForms: true,
      samplingTools: true,
      completionContext: true,
      completionsCapability: true,
      progressMessages: true,
      namelessErrors: true,
      tasks: 'extension',
      extensions: true,
      polling: false,
      versionHeader: true,
    },
  },
]
