import { ChannelError } from '../../jsonrpc/channel.ts'
import { methodRow } from '../../mcp/methods.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { InputResponses } from '../../mcp/types/input.ts'
import { isRecord } from '../../util/record.ts'
import { unreadable } from '../errors.ts'
import type { AnswerContext, Answerer, Question } from '../server-requests/handlers.ts'

/** What a retry says beside what the first attempt said. */
export interface Retry {
  readonly inputResponses?: InputResponses
  readonly requestState?: string
}

/**
 * What kind of result a stateless server gave: a final one, questions, or a task, if it was told that
 * it may. Where it says nothing the result is final. Throws a ChannelError `'framing'` for anything
 * else, and for questions on a method that must not ask any.
 */
export function resultTypeOf(
  result: unknown,
  method: string,
  mayBeTask: boolean,
): 'complete' | 'input_required' | 'task' {
  if (!isRecord(result)) throw unreadable(method, 'the result is no object')
  const { resultType = 'complete' } = result
  if (resultType === 'complete') return resultType
  if (resultType === 'task' && method === 'tools/call' && mayBeTask) return resultType
  if (resultType === 'input_required') {
    if (methodRow(method)?.mayAsk) return resultType
    throw unreadable(method, 'the server asks for input, which it must not for this method')
  }
  throw unreadable(method, `the result has the unknown type ${JSON.stringify(resultType)}`)
}

/** Whether a result is final for sure: nothing else need be looked at. */
export function isComplete(result: unknown): boolean {
  if (!isRecord(result)) return false
  const { resultType } = result
  return resultType === undefined || resultType === 'complete'
}

/** The parts of a result that needs input. Throws a ChannelError `'framing'` if it has none. */
export function inputRequired(
  result: unknown,
  method: string,
): { readonly inputRequests?: Members; readonly requestState?: string } {
  const { inputRequests, requestState } = isRecord(result) ? result : {}
  if (inputRequests !== undefined && !isRecord(inputRequests)) {
    throw unreadable(method, 'its inputRequests are no object')
  }
  if (requestState !== undefined && typeof requestState !== 'string') {
    throw unreadable(method, 'its requestState is no string')
  }
  if (inputRequests === undefined && requestState === undefined) {
    throw unreadable(method, 'the server asks for input without saying which')
  }
  return { inputRequests, requestState }
}

/**
 * Answers all questions of one round at the same time, each under its key.
 *
 * Nobody is asked anything before all of them turn out to be questions this client answers; if not, it
 * rejects with a ChannelError `'refused'`. The first handler that throws ends it: the others are told
 * by their signal.
 */
export async function answerAll(
  method: string,
  questions: Members | undefined,
  { answerer, revision, signal }: AnswerContext & { readonly answerer: Answerer },
): Promise<InputResponses> {
  const stop = new AbortController()
  const context = { revision, signal: AbortSignal.any([signal, stop.signal]) }
  const prepared = Object.entries(questions ?? {}).map(([key, question]) => {
    if (!isQuestion(question)) throw unreadable(method, `its question "${key}" has no method`)
    try {
      return [key, answerer.prepare(question, context)] as const
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : 'refused'
      const what = `${method}: the server asks ${question.method}, which cannot be answered: ${why}`
      throw new ChannelError('refused', what, { cause })
    }
  })
  try {
    const answers = prepared.map(async ([key, answer]) => [key, await answer()] as const)
    return Object.fromEntries(await Promise.all(answers))
  } catch (error) {
    stop.abort(error)
    throw error
  }
}

function isQuestion(value: unknown): value is Question {
  return isRecord(value) && typeof value.method === 'string'
}
