import { invalidParams, type RpcError } from '../../jsonrpc/error.ts'
import { isMissingExtension, tasksExtension } from '../../mcp/extension.ts'
import { serverKey } from '../../mcp/meta.ts'
import { takesServerRequests } from '../../mcp/methods.ts'
import type { Members } from '../../mcp/types/base.ts'
import type { InputRequests } from '../../mcp/types/input.ts'
import { fromServer } from '../../server/input/input-requests.ts'
import { inputRequired, isInputRequired, runWithInput } from '../../server/input/input-required.ts'
import type { InputRun } from '../../server/input/input-run.ts'
import type { InputRounds } from '../../server/input/request-state.ts'
import { type HandlerResult, type IncomingRequest, whenReady } from '../../server/request.ts'
import { isRecord } from '../../util/objects.ts'
import { connectInstead, failureOf } from './errors.ts'
import { ParkedCall, type ParkedCalls } from './parked-calls.ts'
import { forwardedError, forwardedResult } from './results.ts'
import type { SenderMetaCache } from './sender.ts'
import { followTask } from './task.ts'
import type { UpstreamCall, UpstreamResult } from './upstream-call.ts'

/** What all forwarded calls of a router share. */
export interface ForwardContext {
  readonly rounds: InputRounds
  readonly parked: ParkedCalls<UpstreamResult>
  readonly senders: SenderMetaCache
}

/** What an input request leaves with the caller, sealed, so that the retry finds the call again. */
interface RoundState {
  /** The id of the parked call. */
  readonly held?: string
  /** The server that sent the input requests: its answers must not reach another one. */
  readonly server?: string
  /** The instance that sent them, the state that it wants back, and the keys of its requests. */
  readonly at?: string
  readonly requestState?: string
  readonly keys?: readonly string[]
}

/**
 * Forwards a call to its upstream server, and progress, log messages and server requests to the caller,
 * whichever revisions the two speak.
 *
 * A session-based server sends requests during the call. A session-based caller gets them at once; a
 * stateless one is answered with an input request, and the call is parked until the caller retries. A
 * stateless server ends the call with its input requests; the caller gets them in the form of its own
 * revision, and the call is made again with the answers.
 */
export function forward(call: UpstreamCall, context: ForwardContext): HandlerResult {
  const { request } = call
  // The check: what is forwarded is the result of a server, which is an object, or an input request.
  if (!call.mayRequestInput) return forwardOnce(call) as HandlerResult
  if (isFirstRound(request)) return forwardFirst(call, context) as HandlerResult
  const result = runWithInput(request, context.rounds, run => nextRound(call, context, run))
  return whenReady(result, known => inputFrom(call.route.name, known)) as HandlerResult
}

/** Names the server in a result that requires input, so that the caller knows which one asks. */
function inputFrom(server: string, result: unknown): unknown {
  if (!isRecord(result) || result.resultType !== 'input_required') return result
  return { ...result, _meta: { [serverKey]: server } }
}

/** Whether the request answers no input request, and could be sent one during the call. */
function isFirstRound(request: IncomingRequest): boolean {
  const { requestState, inputResponses } = request.params
  return requestState === undefined && inputResponses === undefined && !mustPark(request)
}

/** Forwards a call in the common way: rounds begin only if the server requests input. */
function forwardFirst(call: UpstreamCall, context: ForwardContext): Promise<unknown> {
  return call.route.send(call).then(
    response => {
      const result = settle(call, response)
      const isFinal = !(result instanceof Promise) && !isInputRequired(result)
      return isFinal ? result : continueRounds(call, context, result)
    },
    error => continueRounds(call, context, retryAsTask(call, error)),
  )
}

/** Starts rounds of input requests with the outcome of the first one. */
function continueRounds(call: UpstreamCall, context: ForwardContext, first: unknown): unknown {
  let isFirst = true
  const result = runWithInput(call.request, context.rounds, run => {
    if (!isFirst) return nextRound(call, context, run)
    isFirst = false
    return first
  })
  return whenReady(result, known => inputFrom(call.route.name, known))
}

async function forwardOnce(call: UpstreamCall): Promise<Members> {
  const { result } = await call.route.send(call).catch(error => {
    throw connectInstead(call.request, error) ?? error
  })
  return forwardedResult(call.request.method, asRecord(result), call.caller.revision)
}

async function nextRound(
  call: UpstreamCall,
  context: ForwardContext,
  run: InputRun,
): Promise<unknown> {
  const { request, route } = call
  // The check: the state was sealed by this module, or is absent.
  const { held, server, at, requestState, keys } = (run.state ?? {}) as RoundState
  if (held !== undefined) return resume(call, context, held, run.answers)
  if (server !== undefined && server !== route.name) throw lostState()
  const answers = answersFor(call, run, keys)
  const retry = requestState === undefined ? answers : { ...answers, requestState }
  if (mustPark(request)) return park(call, context, at, retry)
  const round = call.round(at, retry)
  try {
    return settle(round, await route.send(round))
  } catch (error) {
    return retryAsTask(round, error)
  }
}

/** Repeats a call that its server runs only as a task. Rejects after any other failure. */
async function retryAsTask(call: UpstreamCall, error: unknown): Promise<unknown> {
  if (!isTaskRequired(call.request, error)) return failed(call, error)
  call.takesTask = true
  return settle(call, await call.route.send(call))
}

/**
 * Returns the answers for a server: to what it has requested, or to what it may request, where the caller
 * sends them in advance. A session-based server has no place for them.
 */
function answersFor(
  { request, route }: UpstreamCall,
  run: InputRun,
  keys: readonly string[] | undefined,
): Members | undefined {
  if (keys === undefined && request.params.inputResponses === undefined) return undefined
  const given: [string, unknown][] = []
  if (keys !== undefined) {
    const { answers } = run
    for (const key of keys) if (answers.has(key)) given.push([key, answers.get(key)])
  } else if (route.returnsInputRequests) {
    given.push(...run.replies)
  }
  return given.length === 0 ? undefined : { inputResponses: Object.fromEntries(given) }
}

/** Whether a server runs a call only as a task, which a caller without the tasks extension cannot know. */
function isTaskRequired({ caller, task }: IncomingRequest, error: unknown): boolean {
  return (
    caller.revision.features.tasks !== 'extension' &&
    task === undefined &&
    isMissingExtension(error, tasksExtension)
  )
}

/** Whether the caller takes server requests, but only in the response to its own request. */
function mustPark({ caller, task }: IncomingRequest): boolean {
  const { revision, capabilities } = caller
  const { serverRequests } = revision.features
  return serverRequests === 'retry' && !task?.isBegun && takesServerRequests(capabilities)
}

function park(
  call: UpstreamCall,
  context: ForwardContext,
  at: string | undefined,
  retry: Members | undefined,
): Promise<unknown> {
  const parked = new ParkedCall<UpstreamResult>(call.request)
  const round = call.round(at, retry, parked)
  parked.begin(round.route.send(round))
  return nextEvent(call, context, parked)
}

function resume(
  call: UpstreamCall,
  context: ForwardContext,
  id: string,
  answers: ReadonlyMap<string, unknown>,
): Promise<unknown> {
  const parked = context.parked.take(id)
  if (parked === undefined) throw lostState()
  parked.request = call.request
  parked.answer(answers)
  return nextEvent(call, context, parked)
}

/** Throws the error for the caller; returns a result instead if that is how the user learns what to do. */
function failed({ request }: UpstreamCall, error: unknown): Members {
  const connect = connectInstead(request, error)
  if (connect instanceof Error) throw connect
  if (connect !== undefined) return connect
  throw forwardedError(request, error)
}

async function nextEvent(
  call: UpstreamCall,
  context: ForwardContext,
  parked: ParkedCall<UpstreamResult>,
): Promise<unknown> {
  const event = await parked.next().catch(error => ({ type: 'failed', error }) as const)
  if (event.type === 'failed') return failed(call, event.error)
  if (event.type === 'completed') return settle(call, event.outcome)
  context.parked.keep(parked)
  return inputRequired(event.requests, { held: parked.id } satisfies RoundState)
}

/** Returns what the caller gets for a response: the result, input requests, or what its task gives. */
function settle(call: UpstreamCall, response: UpstreamResult): unknown {
  const { request, route, asTask } = call
  const { instance, connection } = response
  const result = asRecord(response.result)
  const hasTypes = connection?.server.revision.features.resultTypes
  if (hasTypes && result.resultType === 'input_required') {
    const { inputRequests, requestState } = result
    const requests = isRecord(inputRequests) ? named(inputRequests, route.name) : {}
    // The check: each of them is checked before it is sent to the caller.
    return inputRequired(requests as unknown as InputRequests, {
      server: route.name,
      at: instance?.key,
      requestState: typeof requestState === 'string' ? requestState : undefined,
      keys: Object.keys(requests),
    } satisfies RoundState)
  }
  const isTask = result.resultType === 'task' || (asTask && isRecord(result.task))
  if (!isTask || connection === undefined) {
    return forwardedResult(request.method, result, request.caller.revision)
  }
  const envelope = instance?.target.isLocal ? call.envelope : undefined
  return followTask(call, result, connection, envelope).then(
    given => forwardedResult(request.method, asRecord(given), request.caller.revision),
    error => {
      throw failureOf(route.name, error)
    },
  )
}

/** Adds the name of the server to its input requests, so that the caller knows which one asks. */
function named(requests: Members, server: string): Members {
  const all = Object.entries(requests).map(
    ([key, request]) => [key, isRecord(request) ? fromServer(request, server) : request] as const,
  )
  return Object.fromEntries(all)
}

function asRecord(result: unknown): Members {
  return isRecord(result) ? result : {}
}

function lostState(): RpcError {
  const details = 'the call that requested input no longer exists: call again without requestState'
  return invalidParams('Invalid requestState', { data: { details } })
}
