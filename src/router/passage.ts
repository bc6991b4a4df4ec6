import type { Progress } from '../client/progress.ts'
import { invalidParams } from '../jsonrpc/error.ts'
import { isMissingExtension, tasksExtension } from '../mcp/extension.ts'
import { readProgressToken } from '../mcp/meta.ts'
import { methodRow } from '../mcp/methods.ts'
import type { ClientCapabilities, Members } from '../mcp/types/base.ts'
import type { InputRequest, InputRequests } from '../mcp/types/input.ts'
import { isLogLevel } from '../mcp/types/logging.ts'
import type { ToolAnnotations } from '../mcp/types/tools.ts'
import type { LiveCall } from '../observe/call.ts'
import { inputRequired, runAsking } from '../server/ask.ts'
import { type Asking, callBack } from '../server/asking.ts'
import { wantsLog } from '../server/logging.ts'
import { questionFor } from '../server/questions.ts'
import type { Answer, ServerRequest } from '../server/request.ts'
import type { Rounds } from '../server/rounds.ts'
import { limits } from '../util/limits.ts'
import { isRecord } from '../util/record.ts'
import type { Call, Delivered } from './dispatch.ts'
import type { Errand } from './errand.ts'
import { failureOf } from './failure.ts'
import { HeldCall, type HeldCalls } from './held.ts'
import { passedParams, passedResult, refusalFor, type Senders, timeoutFor } from './hop.ts'
import { tellQuestion } from './news.ts'
import { safetyOf } from './retry.ts'
import type { Route } from './route.ts'
import { followTask } from './task.ts'

/** What passing calls on takes. */
export interface PassageHost {
  readonly rounds: Rounds
  readonly held: HeldCalls<Delivered>
  readonly senders: Senders
}

/** One request of a caller, and how its server is to be told of it. */
export interface Passing {
  readonly request: ServerRequest
  readonly route: Route
  /** Members of the params that are another thing to the server, such as the name of a tool. */
  readonly own: Members
  readonly annotations?: ToolAnnotations
  /** Whether the server is asked to make a task of it. */
  readonly asTask?: boolean
  /** The call as those who listen hear of it. */
  readonly live?: LiveCall
}

/** What a question leaves with the caller, sealed, so that the retry finds its way back. */
interface Carried {
  /** The call that is held here. */
  readonly held?: string
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
  return runAsking(request, host.rounds, asking => ask(passing, host, asking)) as Answer
}

async function once(passing: Passing, host: PassageHost): Promise<Members> {
  const call = callOf(passing, host, errandOf(passing.request, undefined))
  const { result } = await passing.route.send(call)
  return passedResult(passing.request.method, asRecord(result), passing.request.caller.revision)
}

async function ask(passing: Passing, host: PassageHost, asking: Asking): Promise<unknown> {
  const { request } = passing
  const { held, at, requestState, keys } = (asking.state ?? {}) as Carried
  if (held !== undefined) return resume(passing, host, held, asking.answers)
  const retry: Members = {
    ...(requestState !== undefined && { requestState }),
    ...answersFor(passing, asking, keys),
  }
  if (isHolding(request)) return hold(passing, host, at, retry)
  const call = callOf(passing, host, errandFor(passing), at, retry)
  try {
    return settle(passing, await passing.route.send(call))
  } catch (error) {
    if (!isForTasksOnly(request, error)) throw refusalFor(request, error)
    const sender: Call['sender'] = revision => host.senders.for(request, revision, true)
    return settle(passing, await passing.route.send({ ...call, sender }))
  }
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

function canBeAsked({ elicitation, sampling, roots }: ClientCapabilities): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined
}

function hold(
  passing: Passing,
  host: PassageHost,
  at: string | undefined,
  retry: Members,
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
  const sent = callOf(passing, host, errand, at, retry, call.stop.signal)
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
    const details = 'the call that asked is no longer there: call again without requestState'
    throw invalidParams('Invalid requestState', { data: { details } })
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
  return errandOf(passing.request, (question, signal) => askNow(passing, question, signal))
}

function errandOf(request: ServerRequest, asks: Errand['ask']): Errand {
  const { session, caller } = request
  return {
    owner: caller.revision.era === 'session' && session !== undefined ? session : request,
    ask: canBeAsked(caller.capabilities) ? asks : undefined,
    onProgress: progressTo(request),
    onLog: params => logTo(request, params),
  }
}

function progressTo({ params, exchange, caller }: ServerRequest) {
  const progressToken = readProgressToken(params)
  if (progressToken === undefined) return undefined
  return ({ progress, total, message }: Progress): void => {
    if (exchange.settled === true) return
    const words = caller.revision.features.progressMessages ? message : undefined
    tell(
      exchange.notify('notifications/progress', { progressToken, progress, total, message: words }),
    )
  }
}

function logTo({ exchange, caller, session }: ServerRequest, params: Members): void {
  const { level, logger, data } = params
  if (!isLogLevel(level) || !wantsLog(caller, session, level)) return
  if (caller.revision.era === 'stateless' && exchange.settled === true) return
  tell(exchange.notify('notifications/message', { level, logger, data: data ?? null }))
}

/** What cannot be told any more is of no interest. */
function tell(told: void | Promise<void>): void {
  if (told !== undefined) told.then(undefined, () => {})
}

function callOf(
  { request, route, own, annotations, asTask, live }: Passing,
  { senders }: PassageHost,
  errand: Errand,
  at?: string,
  retry?: Members,
  signal?: AbortSignal,
): Call {
  const { method, params, caller, session } = request
  const passed = passedParams(params, { ...own, ...retry, ...(asTask && { task: {} }) })
  return {
    method,
    params: passed,
    caller,
    session: caller.revision.era === 'session' ? session : undefined,
    errand,
    signal: signal ?? request.exchange.signal,
    timeoutMs: timeoutFor(request, route.timeoutMs ?? limits.upstreamCallMs.default),
    safety: safetyOf(method, annotations),
    pinned: at === undefined ? undefined : route.instance(at),
    tool: typeof own.name === 'string' && method === 'tools/call' ? own.name : undefined,
    headers: request.exchange.envelope.headers,
    logLevel: caller.revision.era === 'session' ? session?.logLevel : caller.logLevel,
    live,
    sender: revision => senders.for(request, revision, request.task !== undefined),
  }
}

function asRecord(result: unknown): Members {
  return isRecord(result) ? result : {}
}
