import { invalidParams, type RpcError } from '../../jsonrpc/error.ts'
import type { Caller } from '../../mcp/caller.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { declaresExtension, missingExtension, tasksExtension } from '../../mcp/extension.ts'
import { isRecord } from '../../util/record.ts'
import type { Params, ServerRequest } from '../request.ts'

/** Whether a tool may be run as a task, and from where on. */
export interface TaskSupport {
  readonly name: string
  readonly task?: 'forbidden' | 'optional' | 'required'
  readonly taskBegins?: 'at-once' | 'in-handler'
}

/** How a call is carried out: as usual, as a task, or as usual until its handler says otherwise. */
export type Manner = 'plain' | 'task' | 'later'

/**
 * How a call of a tool is to be carried out for whoever asks. Throws where it cannot be. `isOffered`
 * says whether the server takes calls as tasks at all.
 */
export function mannerOf(
  { caller, params }: ServerRequest,
  { task = 'forbidden', taskBegins, name }: TaskSupport,
  isOffered: boolean,
): Manner {
  switch (caller.revision.features.tasks) {
    case 'none':
      return 'plain'
    case 'core':
      if (params.task === undefined) {
        if (task === 'required') throw misused(`Tool "${name}" must be called as a task`)
        return 'plain'
      }
      // Where nothing can be a task, the wish for one is ignored.
      if (!isOffered) return 'plain'
      if (task === 'forbidden') throw misused(`Tool "${name}" cannot be called as a task`)
      wishedTtl(params)
      return 'task'
    case 'extension':
      if (task === 'forbidden') return 'plain'
      if (declaresTasks(caller)) return taskBegins === 'in-handler' ? 'later' : 'task'
      if (task === 'required') throw missingExtension(tasksExtension)
      return 'plain'
  }
}

/** Whether a caller has declared that it takes tasks, in revisions that have the extension. */
export function declaresTasks({ capabilities }: Caller): boolean {
  return declaresExtension(capabilities, tasksExtension)
}

/** How long a caller wants its task to be kept, if it says so. Throws for a wish that is none. */
export function wishedTtl({ task }: Params): number | undefined {
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
