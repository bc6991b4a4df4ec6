import { RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { InputRequest, InputRequests } from '../../mcp/types/input.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/objects.ts'
import type { IncomingRequest, NamedParams } from '../request.ts'
import { prepareUrl } from './elicit.ts'
import { prepareInputRequest } from './input-requests.ts'
import { callClient, InputRun, isInputPending, type PriorRuns } from './input-run.ts'
import { type InputRound, type InputRounds, tooManyRounds } from './request-state.ts'

/** A return value of handlers, instead of a result: input requests, and a state for the next run. */
export interface InputRequired {
  readonly [needsInput]: true
  /** The input requests for the client, by keys of your choice. */
  readonly requests: InputRequests
  /** What the next run of the handler gets back; any JSON. */
  readonly state: unknown
}

const needsInput = Symbol('input required')

/**
 * Requests several inputs of the client at once. The handler is run again with the responses in
 * `ctx.answers` and the state in `ctx.state`. `await ctx.elicit(…)` does the same for one request at a
 * time and reads better.
 */
export function inputRequired(requests: InputRequests, state?: unknown): InputRequired {
  return { [needsInput]: true, requests, state }
}

/** Whether a handler has returned `inputRequired(…)`. */
export function isInputRequired(value: unknown): value is InputRequired {
  return typeof value === 'object' && value !== null && needsInput in value
}

type Run<T> = (run: InputRun) => T | Promise<T>

/**
 * Runs a handler that may send requests to the client. In a session, and in a task, these are calls
 * while the handler waits. Otherwise the run ends with the input requests as its result, and the
 * client's retry runs the handler again.
 */
export function runWithInput<T>(
  request: IncomingRequest,
  rounds: InputRounds,
  handler: Run<T>,
): T | NamedParams | Promise<T | NamedParams> {
  const { params, caller } = request
  if (caller.revision.features.serverRequests === 'call' || request.task?.isBegun) {
    return runWithCalls(request, handler)
  }
  if (params.requestState === undefined && params.inputResponses === undefined) {
    return runRound(request, rounds, undefined, handler)
  }
  return rounds.open(request).then(round => runRound(request, rounds, round, handler))
}

function runWithCalls<T>(request: IncomingRequest, handler: Run<T>): T | Promise<T> {
  const run = new InputRun(request)
  const settle = (result: T): T | Promise<T> =>
    isInputRequired(result) ? callUntilDone(request, run, result, handler) : result
  try {
    const first = handler(run)
    if (!(first instanceof Promise)) return settle(first)
    return first.then(settle, error => afterUrls(request, run, error, handler))
  } catch (error) {
    return afterUrls(request, run, error, handler)
  }
}

/**
 * Continues after the web pages that an error names were visited. In revisions with elicitation ids that
 * is an error of the protocol, and thrown.
 */
function afterUrls<T>(
  request: IncomingRequest,
  run: InputRun,
  error: unknown,
  handler: Run<T>,
): Promise<T> {
  const { elicitationIds } = request.caller.revision.features
  const urls = elicitationIds ? undefined : urlsOf(error)
  if (urls === undefined) throw urlElicitationError(request, error)
  return callUntilDone(request, run, inputRequired(urlRequests(urls), run.state), handler)
}

/** Calls the client with the requests that a handler returned, and runs it again, until it is done. */
async function callUntilDone<T>(
  request: IncomingRequest,
  first: InputRun,
  needed: InputRequired,
  handler: Run<T>,
): Promise<T> {
  const answers = new Map<string, unknown>()
  let run = first
  let next: InputRequired = needed
  for (let round = 1; round <= limits.inputRounds.default; round++) {
    const prepared = Object.entries(next.requests).map(
      ([key, one]) => [key, prepareInputRequest(request.caller, one)] as const,
    )
    const calls = prepared.map(async ([key, { request: encoded, accept }]) => {
      answers.set(key, await accept(await callClient(request, encoded, key), key))
    })
    await Promise.all(calls)
    const { effects, replies } = run
    const prior: PriorRuns = { answers, replies, effects, state: next.state }
    run = new InputRun(request, prior)
    const result = await handler(run)
    if (!isInputRequired(result)) return result
    next = result
  }
  throw tooManyRounds()
}

function runRound<T>(
  request: IncomingRequest,
  rounds: InputRounds,
  round: InputRound | undefined,
  handler: Run<T>,
): T | NamedParams | Promise<T | NamedParams> {
  const run = new InputRun(request, round)
  let first: T | Promise<T>
  try {
    first = handler(run)
  } catch (error) {
    return afterRound(request, rounds, round, run, handler).fail(error)
  }
  // The common case: the handler requested no input.
  if (run.isIdle && !(first instanceof Promise) && !isInputRequired(first)) return first
  const { settle, fail } = afterRound(request, rounds, round, run, handler)
  if (first instanceof Promise) return first.then(settle, fail)
  try {
    return settle(first)
  } catch (error) {
    return fail(error)
  }
}

/** The functions that end a round, after the handler has returned or thrown. */
function afterRound<T>(
  request: IncomingRequest,
  rounds: InputRounds,
  round: InputRound | undefined,
  run: InputRun,
  handler: Run<T>,
): {
  settle(result: T): T | Promise<T | NamedParams>
  fail(error: unknown): Promise<NamedParams>
} {
  const settle = (result: T): T | Promise<T | NamedParams> => {
    if (run.fault !== undefined) throw run.fault
    if (isInputRequired(result)) {
      // The request has become a task meanwhile, which sends its requests itself.
      if (request.task?.isBegun) return callUntilDone(request, run, result, handler)
      return requireInput(request, rounds, round, run, result.requests, result.state)
    }
    if (run.open.size === 0) return result
    rounds.warnContinued(request)
    return rounds.ask(request, run, round)
  }
  const fail = (error: unknown): Promise<NamedParams> => {
    if (run.fault !== undefined) return Promise.reject(run.fault)
    // The run ended at an open input request: the client must answer it first, not see what the handler threw.
    if (run.open.size > 0) {
      if (!isPendingIn(error)) rounds.warnContinued(request, error)
      return rounds.ask(request, run, round)
    }
    const urls = urlsOf(error)
    if (urls === undefined) return Promise.reject(error)
    if (request.task?.isBegun) {
      const needed = inputRequired(urlRequests(urls), run.state)
      // The check: what the handler of a task returns in the end is a result.
      return callUntilDone(request, run, needed, handler) as Promise<NamedParams>
    }
    return requireUrls(request, rounds, round, run, urls)
  }
  return { settle, fail }
}

async function requireInput(
  request: IncomingRequest,
  rounds: InputRounds,
  round: InputRound | undefined,
  run: InputRun,
  requests: InputRequests,
  state: unknown,
): Promise<NamedParams> {
  const encoded = new Map<string, InputRequest>()
  for (const [key, one] of Object.entries(requests)) {
    run.claim(key)
    encoded.set(key, prepareInputRequest(request.caller, one).request)
  }
  return rounds.ask(request, run, round, { encoded, requests, state })
}

/** Whether an error is the end of a round, or was made of it. */
function isPendingIn(error: unknown): boolean {
  return isInputPending(error) || (error instanceof Error && isInputPending(error.cause))
}

interface RequiredUrl {
  readonly message: string
  readonly url: string
  readonly elicitationId?: string
}

/** The web pages that must be visited first, from an `errors.urlElicitationRequired(…)` of a handler. */
function urlsOf(error: unknown): readonly RequiredUrl[] | undefined {
  if (!(error instanceof RpcError) || error.kind !== 'url_elicitation_required') return undefined
  const listed = isRecord(error.data) ? error.data.elicitations : undefined
  const isRequiredUrl = (one: unknown): one is RequiredUrl =>
    isRecord(one) && typeof one.message === 'string' && typeof one.url === 'string'
  if (Array.isArray(listed) && listed.length > 0 && listed.every(isRequiredUrl)) return listed
  return undefined
}

/** The error as a session sends it, or the reason why the client does not support it. */
function urlElicitationError(request: IncomingRequest, error: unknown): unknown {
  const urls = urlsOf(error)
  if (urls === undefined) return error
  try {
    const elicitations = urls.map(url => prepareUrl(request.caller, url).params)
    for (const { elicitationId } of elicitations) request.session?.elicitations.add(elicitationId)
    const { message } = error as RpcError
    return errors.urlElicitationRequired({ elicitations }, { message })
  } catch (refusal) {
    return refusal
  }
}

/**
 * Sends the pages as input requests, in revisions without that error. Throws where the user refused one
 * of them.
 */
async function requireUrls(
  request: IncomingRequest,
  rounds: InputRounds,
  round: InputRound | undefined,
  run: InputRun,
  urls: readonly RequiredUrl[],
): Promise<NamedParams> {
  const requests = urlRequests(urls)
  for (const key of Object.keys(requests)) {
    const answer = run.answers.get(key)
    if (isRecord(answer) && answer.action !== 'accept') {
      throw errors.elicitationFailed({ reason: 'the page was not visited' })
    }
  }
  return requireInput(request, rounds, round, run, requests, run.state)
}

function urlRequests(urls: readonly RequiredUrl[]): InputRequests {
  const requests = urls.map(({ message, url }, index) => {
    const params = { mode: 'url', message, url } as const
    return [`url-${index}`, { method: 'elicitation/create', params } as const] as const
  })
  return Object.fromEntries(requests)
}
