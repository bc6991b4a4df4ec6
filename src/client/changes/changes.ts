import { changedList, listFilter, listFilterMembers } from '../../mcp/list-changes.ts'
import type { SubscriptionFilter } from '../../mcp/types/subscriptions.ts'
import type { TaskStatus } from '../../mcp/types/tasks.ts'
import { isRecord, stringsIn } from '../../util/objects.ts'
import { isWithin } from '../cache.ts'

/** Which changes to subscribe to. */
export interface ChangeFilter {
  /** Changes of the list of tools. */
  readonly tools?: boolean
  /** Changes of the list of prompts. */
  readonly prompts?: boolean
  /** `true` for changes of the list of resources, or the URIs of resources whose contents to watch. */
  readonly resources?: boolean | readonly string[]
  /** Changes of the list of resources, where `resources` holds URIs. */
  readonly resourceList?: boolean
  /** Status changes of the tasks with these ids. */
  readonly tasks?: readonly string[]
}

/**
 * A change on the server. Changes are hints to read again: several of the same type may be merged into one.
 *
 * `tools`, `prompts` and `resources` are changes of the lists. At `reconnected`, anything may have changed
 * while there was no connection. `lagged` has the number of changes dropped because they were not read.
 */
export type Change =
  | {
      /** A list that has changed, or that the connection was lost and is open again. */
      readonly type: 'tools' | 'prompts' | 'resources' | 'reconnected'
    }
  | {
      readonly type: 'resource'
      /** The URI of the resource that has changed. */
      readonly uri: string
    }
  | {
      readonly type: 'task'
      /** The id of the task whose status has changed. */
      readonly id: string
      /** The status of the task now. */
      readonly status: TaskStatus
    }
  | {
      readonly type: 'lagged'
      /** The number of changes that were dropped because they were not read. */
      readonly missed: number
    }

/** Converts a filter to the form of the protocol. */
export function wireFilter(filter: ChangeFilter): SubscriptionFilter {
  const { tools, prompts, resources, resourceList, tasks } = filter
  const uris = typeof resources === 'object' ? [...new Set(resources)] : []
  const lists = { tools, prompts, resources: resources === true || resourceList }
  return {
    ...listFilter(kind => lists[kind] === true),
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
    ...(tasks !== undefined && tasks.length > 0 && { taskIds: [...new Set(tasks)] }),
  }
}

/** Reads the filter that a server has acknowledged; invalid members are left out. */
export function readFilter(value: unknown): SubscriptionFilter {
  const members = isRecord(value) ? value : {}
  const uris = stringsIn(members.resourceSubscriptions)
  const taskIds = stringsIn(members.taskIds)
  return {
    ...listFilter(kind => members[listFilterMembers[kind]] === true),
    ...(uris !== undefined && { resourceSubscriptions: uris }),
    ...(taskIds !== undefined && { taskIds }),
  }
}

/** Returns the change that a notification reports; undefined for other notifications. */
export function changeIn(method: string, params: unknown): Change | undefined {
  const members = isRecord(params) ? params : {}
  switch (method) {
    case 'notifications/resources/updated':
      return typeof members.uri === 'string' ? { type: 'resource', uri: members.uri } : undefined
    case 'notifications/tasks':
    case 'notifications/tasks/status': {
      const { taskId, status } = members
      if (typeof taskId !== 'string' || !isStatus(status)) return undefined
      return { type: 'task', id: taskId, status }
    }
    default: {
      const list = changedList(method)
      return list === undefined ? undefined : { type: list }
    }
  }
}

/** Whether a filter includes a change. A resource update matches watched URIs above it too. */
export function isIncluded(change: Change, filter: SubscriptionFilter): boolean {
  switch (change.type) {
    case 'resource':
      return filter.resourceSubscriptions?.some(uri => isWithin(change.uri, uri)) ?? false
    case 'task':
      return filter.taskIds?.includes(change.id) ?? false
    case 'reconnected':
    case 'lagged':
      return true
    default:
      return filter[listFilterMembers[change.type]] === true
  }
}

/** Returns the first member of the filter that the server has not acknowledged; undefined if it has all. */
export function missingIn(
  requested: SubscriptionFilter,
  acknowledged: SubscriptionFilter,
): string | undefined {
  const list = Object.values(listFilterMembers).find(name => requested[name] && !acknowledged[name])
  if (list !== undefined) return list
  const isAcknowledged = (name: 'resourceSubscriptions' | 'taskIds') =>
    requested[name]?.every(one => acknowledged[name]?.includes(one)) ?? true
  return (['resourceSubscriptions', 'taskIds'] as const).find(name => !isAcknowledged(name))
}

const statuses: ReadonlySet<unknown> = new Set<TaskStatus>([
  'working',
  'input_required',
  'completed',
  'failed',
  'cancelled',
])

/** Whether a value is a task status. */
export function isStatus(value: unknown): value is TaskStatus {
  return statuses.has(value)
}
