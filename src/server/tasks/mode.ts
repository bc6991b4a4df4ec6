import { invalidParams, type RpcError } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { declaresExtension, missingExtension, tasksExtension } from '../../mcp/extension.ts'
import { isRecord } from '../../util/objects.ts'
import type { IncomingRequest, NamedParams } from '../request.ts'

/** Whether a tool may run as a task, and when a call becomes one. */
export interface TaskSupport {
  readonly name: string
  readonly task?: 'forbidden' | 'optional' | 'required'
  readonly taskStart?: 'at-once' | 'in-handler'
}

/** How a call is run: as a plain call, as a task, or as a plain call until its handler begins a task. */
export type ExecutionMode = 'plain' | 'task' | 'deferred'

/**
 * Decides how a call of a tool is run for its caller. Throws an RpcError where it cannot be. `isOffered`
 * says whether the server offers tasks at all.
 */
export function executionMode(
  { caller, params }: IncomingRequest,
  { task = 'forbidden', taskStart, name }: TaskSupport,
  isOffered: boolean,
): ExecutionMode {
  switch (caller.revision.features.tasks) {
    case 'none':
      return 'plain'
    case 'core':
      if (params.task === undefined) {
        if (task === 'required') throw misused(`Tool "${name}" must be called as a task`)
        return 'plain'
      }
      // A server without tasks ignores a request for one.
      if (!isOffered) return 'plain'
      if (task === 'forbidden') throw misused(`Tool "${name}" cannot be called as a task`)
      requestedTtl(params)
      return 'task'
    case 'extension':
      if (task === 'forbidden') return 'plain'
      if (declaresTasks(caller)) return taskStart === 'in-handler' ? 'deferred' : 'task'
      if (task === 'required') throw missingExtension(tasksExtension)
      return 'plain'
  }
}

/** Whether a caller has declared the extension for tasks. */
export function declaresTasks({ capabilities }: Caller): boolean {
  return declaresExtension(capabilities, tasksExtension)
}

/** The time to live that a caller requests for its task, if any. Throws an RpcError for an invalid one. */
export function requestedTtl({ task }: NamedParams): number | undefined {
  if (!isRecord(task)) throw invalidParams('task must be an object')
  const { ttl } = task
  if (ttl === undefined || ttl === null) return undefined
  if (typeof ttl !== 'number' || !(ttl >= 0)) {
    throw invalidParams('task.ttl must be a number of milliseconds')
  }
  return Math.round(ttl)
}

function misused(message: string): RpcError {
  return errors.methodNotFound({ method: 'tools/call' }, { message })
}
