import { TaskPolling } from '../../client/tasks/run.ts'
import { readTask } from '../../client/tasks/task.ts'
import type { Envelope } from '../../jsonrpc/channel.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { InputRequest, InputResponse, InputResponses } from '../../mcp/types/input.ts'
import type { IncomingRequest } from '../../server/request.ts'
import { isRecord } from '../../util/objects.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import type { UpstreamCall } from './upstream-call.ts'

/**
 * Follows a task that a server made of a call, and settles with the result of the task. If the caller
 * takes tasks, its own call becomes one too; else it waits. Rejects as the task fails, and cancels the
 * task when the caller gives up. `call` must not be parked: a task sends its server requests at once.
 * A server of this process gets the `envelope` of the caller with each request about the task.
 */
export async function followTask(
  call: UpstreamCall,
  created: Members,
  connection: UpstreamConnection,
  envelope?: Envelope,
): Promise<unknown> {
  const { request } = call
  const { settings, server } = connection
  const { revision } = server
  const facts = readTask(revision.features.tasks === 'core' ? created.task : created)
  // In sessions a task sends server requests, which are attributed to its call.
  connection.keep(call, facts.id)
  const run = new TaskPolling(facts, revision, {
    settings,
    request: (method, params, options) => connection.requestFor(envelope, method, params, options),
    answer: (requests, signal) => answerAll(requests, call, signal),
    onFollowed: () => {},
  })
  const { signal } = request.exchange
  let messages: ReturnType<typeof forwardMessages> | undefined
  let result: unknown
  try {
    await request.task?.begin()
    messages = forwardMessages(request, run)
    result = await run.outcome({ signal })
    return result
  } catch (error) {
    if (signal.aborted) {
      connection.abandon(call)
      run.cancel().then(undefined, () => {})
    }
    throw error
  } finally {
    connection.release(call, facts.id, result)
    messages?.end()
  }
}

/** Forwards the status messages of the server's task to the caller's task. */
function forwardMessages({ task }: IncomingRequest, run: TaskPolling): { end(): void } {
  const handle = task?.isBegun ? task.handle : undefined
  if (handle === undefined) return { end: () => {} }
  const updates = run.updates[Symbol.asyncIterator]()
  const follow = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await updates.next()
      if (done) return
      if (value.message !== undefined) handle.message(value.message)
    }
  }
  follow().then(undefined, () => {})
  return { end: () => void updates.return?.().then(undefined, () => {}) }
}

async function answerAll(
  requests: Members,
  call: UpstreamCall,
  signal: AbortSignal,
): Promise<InputResponses> {
  const answers = Object.entries(requests).map(async ([key, request]) => {
    if (!isRecord(request) || call.ask === undefined) {
      throw new TypeError(`the input request "${key}" cannot be sent to the caller`)
    }
    // The check: a request is checked before it is sent; what comes back is the caller's answer.
    const answer = await call.ask(request as unknown as InputRequest, signal)
    return [key, answer as InputResponse] as const
  })
  return Object.fromEntries(await Promise.all(answers))
}
