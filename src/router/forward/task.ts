import { TaskRun } from '../../client/tasks/run.ts'
import { taskFacts } from '../../client/tasks/task.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { InputRequest, InputResponse, InputResponses } from '../../mcp/types/input.ts'
import type { ServerRequest } from '../../server/request.ts'
import { isRecord } from '../../util/record.ts'
import type { Source } from './call.ts'
import type { Errand } from './errand.ts'

/**
 * Follows a task that a server has made of a call, and gives what it gives. Where the caller takes
 * tasks, its own call becomes one too; else it waits. Rejects as the task fails, and cancels it when
 * the caller gives up.
 */
export async function followTask(
  request: ServerRequest,
  created: Members,
  { lane, revision }: Source,
  errand: Errand,
): Promise<unknown> {
  const facts = taskFacts(revision.features.tasks === 'core' ? created.task : created)
  // In sessions the questions of a task are requests, which must find whose they are.
  lane.keep(errand, facts.id)
  const { client } = lane
  const run = new TaskRun(facts, revision, {
    settings: lane.settings,
    request: (method, params, options) => client.request(method, params, options),
    answer: (questions, signal) => answerAll(questions, errand, signal),
    onFollowed: () => {},
  })
  const { signal } = request.exchange
  let words: ReturnType<typeof tellWords> | undefined
  let given: unknown
  try {
    await request.task?.begin()
    words = tellWords(request, run)
    given = await run.outcome({ signal })
    return given
  } catch (error) {
    if (signal.aborted) {
      lane.abandon(errand)
      run.cancel().then(undefined, () => {})
    }
    throw error
  } finally {
    lane.forget(errand, facts.id, given)
    words?.end()
  }
}

/** Says to whoever follows the caller's task what the server says of its own. */
function tellWords({ task }: ServerRequest, run: TaskRun): { end(): void } {
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
  questions: Members,
  errand: Errand,
  signal: AbortSignal,
): Promise<InputResponses> {
  const answers = Object.entries(questions).map(async ([key, question]) => {
    if (!isRecord(question) || errand.ask === undefined) {
      throw new TypeError(`the question "${key}" cannot be put to anybody`)
    }
    // The check: a question is looked at where it is put; what comes back is the caller's answer.
    const answer = await errand.ask(question as unknown as InputRequest, signal)
    return [key, answer as InputResponse] as const
  })
  return Object.fromEntries(await Promise.all(answers))
}
