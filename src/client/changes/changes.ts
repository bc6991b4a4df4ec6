import type { SubscriptionFilter } from '../../mcp/types/subscriptions.ts'
import type { TaskStatus } from '../../mcp/types/tasks.ts'
import { isRecord, stringsIn } from '../../util/record.ts'
import { isWithin } from '../cache.ts'

/** Which changes are wanted. */
export interface ChangeFilter {
  /** Whether the list of tools changes. */
  readonly tools?: boolean
  readonly prompts?: boolean
  /** Whether the list of resources changes, or the addresses whose contents are watched. */
  readonly resources?: boolean | readonly string[]
  /** The list of resources, where `resources` holds addresses. */
  readonly resourceList?: boolean
  /** Tasks by their ids. */
  readonly tasks?: readonly string[]
}

/**
 * Something is not as it was. These are hints to look again: several of a kind may come as one.
 *
 * `tools`, `prompts` and `resources` are changes of the lists. After `reconnected` anything may have
 * changed meanwhile; `lagged` tells how many hints were dropped because nobody read them.
 */
export type Change =
  | { readonly type: 'tools' | 'prompts' | 'resources' | 'reconnected' }
  | { readonly type: 'resource'; readonly uri: string }
  | { readonly type: 'task'; readonly id: string; readonly status: TaskStatus }
  | { readonly type: 'lagged'; readonly missed: number }

/** A filter in the words of the protocol. */
export function wireFilter(filter: ChangeFilter): SubscriptionFilter {
  const { tools, prompts, resources, resourceList, tasks } = filter
  const uris = typeof resources === 'object' ? [...new Set(resources)] : []
  return {
    ...(tools && { toolsListChanged: true }),
    ...(prompts && { promptsListChanged: true }),
    ...((resources === true || resourceList) && { resourcesListChanged: true }),
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
    ...(tasks !== undefined && tasks.length > 0 && { taskIds: [...new Set(tasks)] }),
  }
}

/** What a server says it will tell of; whatever is not as it should be is left out. */
export function readFilter(value: unknown): SubscriptionFilter {
  const members = isRecord(value) ? value : {}
  const uris = stringsIn(members.resourceSubscriptions)
  const taskIds = stringsIn(members.taskIds)
  return {
    ...(members.toolsListChanged === true && { toolsListChanged: true }),
    ...(members.promptsListChanged === true && { promptsListChanged: true }),
    ...(members.resourcesListChanged === true && { resourcesListChanged: true }),
    ...(uris !== undefined && { resourceSubscriptions: uris }),
    ...(taskIds !== undefined && { taskIds }),
  }
}

/** The change a notification tells of; undefined for notifications about something else. */
export function changeIn(method: string, params: unknown): Change | undefined {
  const members = isRecord(params) ? params : {}
  switch (method) {
    case 'notifications/tools/list_changed':
      return { type: 'tools' }
    case 'notifications/prompts/list_changed':
      return { type: 'prompts' }
    case 'notifications/resources/list_changed':
      return { type: 'resources' }
    case 'notifications/resources/updated':
      return typeof members.uri === 'string' ? { type: 'resource', uri: members.uri } : undefined
    case 'notifications/tasks':
    case 'notifications/tasks/status': {
      const { taskId, status } = members
      if (typeof taskId !== 'string' || !isStatus(status)) return undefined
      return { type: 'task', id: taskId, status }
    }
    default:
      return undefined
  }
}

/** Whether a change is one of those wanted. An update may be of something below a watched address. */
export function isWanted(change: Change, filter: SubscriptionFilter): boolean {
  switch (change.type) {
    case 'tools':
      return filter.toolsListChanged === true
    case 'prompts':
      return filter.promptsListChanged === true
    case 'resources':
      return filter.resourcesListChanged === true
    case 'resource':
      return filter.resourceSubscriptions?.some(uri => isWithin(change.uri, uri)) ?? false
    case 'task':
      return filter.taskIds?.includes(change.id) ?? false
    case 'reconnected':
    case 'lagged':
      return true
  }
}

/** What of a filter is missing from what the server will tell; undefined when nothing is. */
export function missingIn(
  asked: SubscriptionFilter,
  given: SubscriptionFilter,
): string | undefined {
  const lists = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'] as const
  const list = lists.find(name => asked[name] && !given[name])
  if (list !== undefined) return list
  const isGiven = (name: 'resourceSubscriptions' | 'taskIds') =>
    asked[name]?.every(one => given[name]?.includes(one)) ?? true
  return (['resourceSubscriptions', 'taskIds'] as const).find(name => !isGiven(name))
}

const statuses: ReadonlySet<unknown> = new Set<TaskStatus>([
  'working',
  'input_required',
  'completed',
  'failed',
  'cancelled',
])

/** Whether this is the status of a task. */
export function isStatus(value: unknown): value is TaskStatus {
  return statuses.has(value)
}
