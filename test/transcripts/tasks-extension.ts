import { revisions } from '../mcp-interop/driver.ts'

type Message = Readonly<Record<string, unknown>>

const newest = revisions.at(-1)

/**
 * Returns what is wrong with a message of the tasks extension, which the core schema does not define.
 * Undefined for any other message; `answers` is the method of the request that the message responds to.
 */
export function taskProblems(
  message: Message,
  revision: string,
  answers: string | undefined,
): readonly string[] | undefined {
  if (revision !== newest) return undefined
  const { method, params, result } = message
  if (method === 'notifications/tasks') return faults(params, detailed)
  if (!isRecord(result)) return undefined
  if (result.resultType === 'task') {
    return answers === 'tools/call' ? faults(result, plain) : [`${answers} gave a task`]
  }
  if (answers === 'tasks/get') return faults(result, detailed)
  if (answers === 'tasks/update' || answers === 'tasks/cancel') {
    const members = Object.keys(result).sort().join()
    return members === '_meta,resultType' ? [] : [`an acknowledgment with ${members}`]
  }
  return undefined
}

/**
 * Returns the message as the core schema defines it: an acknowledgment without subscriptions to tasks.
 */
export function withoutTasks(message: Message): Message {
  const { method, params } = message
  if (method !== 'notifications/subscriptions/acknowledged' || !isRecord(params)) return message
  if (!isRecord(params.notifications)) return message
  const { taskIds: _, ...notifications } = params.notifications
  return { ...message, params: { ...params, notifications } }
}

const plain = new Map<string, (value: unknown) => boolean>([
  ['taskId', isString],
  ['status', value => statuses.has(value)],
  ['createdAt', isTime],
  ['lastUpdatedAt', isTime],
  ['ttlMs', value => value === null || Number.isInteger(value)],
])

/** The member that each status requires; it excludes the other two. */
const statuses = new Map<unknown, string | undefined>([
  ['working', undefined],
  ['cancelled', undefined],
  ['input_required', 'inputRequests'],
  ['completed', 'result'],
  ['failed', 'error'],
])

function faults(
  task: unknown,
  rules: ReadonlyMap<string, (value: unknown) => boolean>,
): readonly string[] {
  if (!isRecord(task)) return ['the task is not an object']
  const wrong = [...rules].filter(([name, isRight]) => !isRight(task[name]))
  const brought = ['inputRequests', 'result', 'error'].filter(name => name in task)
  const wanted = rules === detailed ? statuses.get(task.status) : undefined
  if (brought.join() !== (wanted ?? '')) wrong.push([brought.join() || 'nothing', () => false])
  if ('requestState' in task) wrong.push(['requestState', () => false])
  return wrong.map(([name]) => `a task that is ${task.status} has a wrong ${name}`)
}

const detailed = new Map(plain)

function isString(value: unknown): value is string {
  return typeof value === 'string'
}

function isTime(value: unknown): boolean {
  return isString(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value)
}

function isRecord(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
