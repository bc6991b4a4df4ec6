import { invalidParams, type RpcError } from '../../jsonrpc/error.ts'
import { isMissingExtension, tasksExtension } from '../../mcp/extension.ts'
import { methodRow } from '../../mcp/methods.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { InputRequest, InputRequests } from '../../mcp/types/input.ts'
import { questionFor } from '../../server/input/input-requests.ts'
import { inputRequired, isInputRequired, runAsking } from '../../server/input/input-required.ts'
import { type Asking, callBack } from '../../server/input/input-run.ts'
import type { Rounds } from '../../server/input/request-state.ts'
import type { Answer, ServerRequest } from '../../server/request.ts'
import { isRecord } from '../../util/record.ts'
import { tellQuestion } from '../events.ts'
import type { Delivered } from './call.ts'
import type { Errand } from './errand.ts'
import { failureOf } from './errors.ts'
import { passedResult, refusalFor, type Senders } from './hop.ts'
import { HeldCall, type HeldCalls } from './parked-calls.ts'
import { canBeAsked, logTo, progressTo, RequestErrand } from './request-errand.ts'
import { followTask } from './task.ts'
import { PassedCall, type Passing } from './upstream-call.ts'

/** What passing calls on takes. */
export interface PassageHost {
  readonly rounds: Rounds
  readonly held: HeldCalls<Delivered>
  readonly senders: Senders
}

/** What a question leaves with the caller, sealed, so that the retry finds its way back. */
interface Carried {
  /** The call that is held here. */
  readonly held?: string
  /** The server that asked: what was answered is nobody else's business. */
  readonly server?: string
  /** The instance that asked, what it wants to be told again, and what it asked. */
  readonly at?: string
  readonly requestState?: string
  readonly keys?: readonly string[]
}

/**
 * Passes a request on to a server, and what comes back to whoever asked: progress, log messages and
 * questions included, whichever revisions the two speak.
 *
 * A server of the session revisions asks while the call is under way. A session's caller is asked at
 * once; a stateless one is answered with the question, and the call is held until it comes back. A
 * stateless server ends the call with its question, which the caller gets in its own way, and the call
 * is made again with the answer.
 */
export function pass(passing: Passing, host: PassageHost): Answer {
  const { request } = passing
  // The check: what passes through is a result of a server, which is an object, or a question.
  if (!methodRow(request.method)?.mayAsk) return once(passing, host) as Answer
  if (isFirst(request)) return passFirst(passing, host) as Answer
  return runAsking(request, host.rounds, asking => ask(passing, host, asking)) as Answer
}

/** Whether nothing has been asked or answered before, and nobody has to be told by being answered. */
function isFirst(request: ServerRequest): boolean {
  const { requestState, inputResponses } = request.params
  return requestState === undefined && inputResponses === undefined && !isHolding(request)
}

/** As nearly every request is passed on: only where the server asks something are there rounds. */
function passFirst(passing: Passing, host: PassageHost): Promise<unknown> {
  const call = new PassedCall(passing, host.senders, errandFor(passing))
  return passing.route.send(call).then(
    delivered => {
      const given = settle(passing, delivered)
      return given instanceof Promise || isInputRequired(given) ? goOn(passing, host, given) : given
    },
    error => goOn(passing, host, again(passing, call, error)),
  )
}

/** Takes what a request gave for what the first round of it gave. */
function goOn(passing: Passing, host: PassageHost, first: unknown): unknown {
  let isOver = false
  return runAsking(passing.request, host.rounds, asking => {
    if (isOver) return ask(passing, host, asking)
    isOver = true
    return first
  })
}

async function once(passing: Passing, host: PassageHost): Promise<Members> {
  const call = new PassedCall(passing, host.senders, new RequestErrand(passing.request, undefined))
  const { result } = await passing.route.send(call)
  return passedResult(passing.request.method, asRecord(result), passing.request.caller.revision)
}

async function ask(passing: Passing, host: PassageHost, asking: Asking): Promise<unknown> {
  const { request } = passing
  const { held, server, at, requestState, keys } = (asking.state ?? {}) as Carried
  if (held !== undefined) return resume(passing, host, held, asking.answers)
  if (server !== undefined && server !== passing.route.name) throw goneState()
  const answers = answersFor(passing, asking, keys)
  const retry = requestState === undefined ? answers : { ...answers, requestState }
  if (isHolding(request)) return hold(passing, host, at, retry)
  const call = new PassedCall(passing, host.senders, errandFor(passing), at, retry)
  try {
    return settle(passing, await passing.route.send(call))
  } catch (error) {
    return again(passing, call, error)
  }
}

/** Makes a call again that its server carries out only as a task; rejects after any other failure. */
async function again(passing: Passing, call: PassedCall, error: unknown): Promise<unknown> {
  if (!isForTasksOnly(passing.request, error)) throw refusalFor(passing.request, error)
  call.takesTask = true
  return settle(passing, await passing.route.send(call))
}

/**
 * The answers that a server is told: to what it has asked, or to what it may ask, where the caller
 * gives them unasked. One of the session revisions has no place for them.
 */
function answersFor(
  { request, route }: Passing,
  asking: Asking,
  keys: readonly string[] | undefined,
): Members | undefined {
  if (keys === undefined && request.params.inputResponses === undefined) return undefined
  const given: [string, unknown][] = []
  if (keys !== undefined) {
    const { answers } = asking
    for (const key of keys) if (answers.has(key)) given.push([key, answers.get(key)])
  } else if (route.upstream.ready?.first?.server.revision.era === 'stateless') {
    given.push(...asking.replies)
  }
  return given.length === 0 ? undefined : { inputResponses: Object.fromEntries(given) }
}

/** Whether a server carries out a call only as a task, which a session's caller cannot know. */
function isForTasksOnly({ caller, task }: ServerRequest, error: unknown): boolean {
  return (
    caller.revision.era === 'session' &&
    task === undefined &&
    isMissingExtension(error, tasksExtension)
  )
}

/** Whether the caller can be asked something, and only by being answered. */
function isHolding({ caller, task }: ServerRequest): boolean {
  return caller.revision.era === 'stateless' && !task?.isBegun && canBeAsked(caller.capabilities)
}

function hold(
  passing: Passing,
  host: PassageHost,
  at: string | undefined,
  retry: Members | undefined,
): Promise<unknown> {
  const call = new HeldCall<Delivered>(passing.request)
  const errand: Errand = {
    owner: call,
    ask: (question, signal) => {
      tellQuestion(passing.route.name, question.method)
      // Refused here where the caller cannot be asked it, before it is told anything.
      const { request, accept } = questionFor(call.request.caller, question)
      return call.ask(request, signal).then(answer => accept(answer, request.method))
    },
    onProgress: progressTo(call.request) && (step => progressTo(call.request)?.(step)),
    onLog: params => logTo(call.request, params),
  }
  const sent = new PassedCall(passing, host.senders, errand, at, retry, call.stop)
  call.begin(passing.route.send(sent))
  return next(passing, host, call)
}

function resume(
  passing: Passing,
  host: PassageHost,
  id: string,
  answers: ReadonlyMap<string, unknown>,
): Promise<unknown> {
  const call = host.held.take(id)
  if (call === undefined) {
    throw goneState()
  }
  call.request = passing.request
  call.answer(answers)
  return next(passing, host, call)
}

async function next(
  passing: Passing,
  host: PassageHost,
  call: HeldCall<Delivered>,
): Promise<unknown> {
  const news = await call.next().catch(error => {
    throw refusalFor(passing.request, error)
  })
  if (news.type === 'over') return settle(passing, news.outcome)
  host.held.keep(call)
  return inputRequired(news.requests, { held: call.id } satisfies Carried)
}

/** What the caller gets of what a server gave: its result, its questions, or what its task gives. */
function settle(passing: Passing, delivered: Delivered): unknown {
  const { request, route } = passing
  const result = asRecord(delivered.result)
  const { from } = delivered
  if (from?.revision.era === 'stateless' && result.resultType === 'input_required') {
    const { inputRequests, requestState } = result
    const requests = isRecord(inputRequests) ? inputRequests : {}
    // The check: each question is looked at before it is put to the caller.
    return inputRequired(requests as unknown as InputRequests, {
      server: route.name,
      at: from.instance.key,
      requestState: typeof requestState === 'string' ? requestState : undefined,
      keys: Object.keys(requests),
    } satisfies Carried)
  }
  const isTask = result.resultType === 'task' || (passing.asTask && isRecord(result.task))
  if (!isTask || from === undefined)
    return passedResult(request.method, result, request.caller.revision)
  // Its questions are those of a task, whichever way the call that became one would have asked.
  return followTask(request, result, from, errandFor(passing)).then(
    given => passedResult(request.method, asRecord(given), request.caller.revision),
    error => {
      throw failureOf(route.name, error)
    },
  )
}

/** Asks a caller that can be asked while it waits. */
async function askNow(
  { request, route }: Passing,
  question: InputRequest,
  signal: AbortSignal,
): Promise<unknown> {
  tellQuestion(route.name, question.method)
  const { request: posed, accept } = questionFor(request.caller, question)
  const key = `${question.method} ${crypto.randomUUID()}`
  const { exchange } = request
  const { envelope, back } = exchange
  const asked: ServerRequest = {
    ...request,
    exchange: {
      envelope,
      back,
      // Whoever gives up the call, or the question, no longer waits for the answer.
      signal: AbortSignal.any([signal, exchange.signal]),
      notify: (method, params) => exchange.notify(method, params),
    },
  }
  return accept(await callBack(asked, posed, key), key)
}

function errandFor(passing: Passing): Errand {
  const { request } = passing
  if (!canBeAsked(request.caller.capabilities)) return new RequestErrand(request, undefined)
  return new RequestErrand(request, (question, signal) => askNow(passing, question, signal))
}

function asRecord(result: unknown): Members {
  return isRecord(result) ? result : {}
}

function goneState(): RpcError {
  const details = 'the call that asked is no longer there: call again without requestState'
  return invalidParams('Invalid requestState', { data: { details } })
}
