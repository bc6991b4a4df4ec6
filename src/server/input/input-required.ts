import { RpcError } from '../../jsonrpc/error.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import type { InputRequest, InputRequests } from '../../mcp/types/input.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import type { Params, ServerRequest } from '../request.ts'
import { poseUrl } from './elicit.ts'
import { questionFor } from './input-requests.ts'
import { Asking, callBack, type Earlier } from './input-run.ts'
import { type Round, type Rounds, tooManyRounds } from './request-state.ts'

/** What a handler may return instead of a result: questions, and a state to come back with. */
export interface InputRequired {
  readonly [needsInput]: true
  readonly requests: InputRequests
  readonly state: unknown
}

const needsInput = Symbol('input required')

/**
 * Asks the client several things at once and lets the handler be run again with the answers, which it
 * then finds in `ctx.answers`, and the state in `ctx.state`. `await ctx.elicit(…)` does the same for
 * one question at a time and reads better.
 */
export function inputRequired(requests: InputRequests, state?: unknown): InputRequired {
  return { [needsInput]: true, requests, state }
}

export function isInputRequired(value: unknown): value is InputRequired {
  return typeof value === 'object' && value !== null && needsInput in value
}

type Run<T> = (asking: Asking) => T | Promise<T>

/** Runs a handler that may ask, through as many rounds as the caller's revision lets it. */
export function runAsking<T>(
  request: ServerRequest,
  rounds: Rounds,
  run: Run<T>,
): T | Params | Promise<T | Params> {
  const { params, caller } = request
  if (caller.revision.era === 'session' || request.task?.isBegun) return runWithCalls(request, run)
  if (params.requestState === undefined && params.inputResponses === undefined) {
    return runRound(request, rounds, undefined, run)
  }
  return rounds.open(request).then(round => runRound(request, rounds, round, run))
}

function runWithCalls<T>(request: ServerRequest, run: Run<T>): T | Promise<T> {
  const asking = new Asking(request)
  const settle = (result: T): T | Promise<T> =>
    isInputRequired(result) ? callRounds(request, asking, result, run) : result
  try {
    const first = run(asking)
    if (!(first instanceof Promise)) return settle(first)
    return first.then(settle, error => afterUrls(request, asking, error, run))
  } catch (error) {
    return afterUrls(request, asking, error, run)
  }
}

/** Goes on after the pages that an error asks for; where that is an error of the protocol, throws it. */
function afterUrls<T>(
  request: ServerRequest,
  asking: Asking,
  error: unknown,
  run: Run<T>,
): Promise<T> {
  const urls = request.caller.revision.era === 'stateless' ? urlsOf(error) : undefined
  if (urls === undefined) throw urlsRequired(request, error)
  return callRounds(request, asking, inputRequired(urlQuestions(urls), asking.state), run)
}

async function callRounds<T>(
  request: ServerRequest,
  first: Asking,
  needed: InputRequired,
  run: Run<T>,
): Promise<T> {
  const answers = new Map<string, unknown>()
  let asking = first
  let next: InputRequired = needed
  for (let round = 1; round <= limits.inputRounds.default; round++) {
    const posed = Object.entries(next.requests).map(
      ([key, question]) => [key, questionFor(request.caller, question)] as const,
    )
    const asked = posed.map(async ([key, { request: question, accept }]) => {
      answers.set(key, await accept(await callBack(request, question, key), key))
    })
    await Promise.all(asked)
    const { effects, replies } = asking
    const earlier: Earlier = { answers, replies, effects, state: next.state }
    asking = new Asking(request, earlier)
    const result = await run(asking)
    if (!isInputRequired(result)) return result
    next = result
  }
  throw tooManyRounds()
}

function runRound<T>(
  request: ServerRequest,
  rounds: Rounds,
  round: Round | undefined,
  run: Run<T>,
): T | Params | Promise<T | Params> {
  const asking = new Asking(request, round)
  let first: T | Promise<T>
  try {
    first = run(asking)
  } catch (error) {
    return afterRound(request, rounds, round, asking, run).fail(error)
  }
  // As it is for nearly every call: nothing was asked.
  if (asking.isIdle && !(first instanceof Promise) && !isInputRequired(first)) return first
  const { settle, fail } = afterRound(request, rounds, round, asking, run)
  if (first instanceof Promise) return first.then(settle, fail)
  try {
    return settle(first)
  } catch (error) {
    return fail(error)
  }
}

/** How a round ends, whatever its handler gave or threw. */
function afterRound<T>(
  request: ServerRequest,
  rounds: Rounds,
  round: Round | undefined,
  asking: Asking,
  run: Run<T>,
): {
  settle(result: T): T | Promise<T | Params>
  fail(error: unknown): Promise<Params>
} {
  const settle = (result: T): T | Promise<T | Params> => {
    if (asking.fault !== undefined) throw asking.fault
    if (isInputRequired(result)) {
      // The request has been answered with a task meanwhile, which asks for itself.
      if (request.task?.isBegun) return callRounds(request, asking, result, run)
      return requireInput(request, rounds, round, asking, result.requests, result.state)
    }
    return asking.open.size === 0 ? result : rounds.ask(request, asking, round)
  }
  const fail = (error: unknown): Promise<Params> => {
    if (asking.fault !== undefined) return Promise.reject(asking.fault)
    // Whatever the handler made of being ended, the open question is what the client must know.
    if (asking.open.size > 0) return rounds.ask(request, asking, round)
    const urls = urlsOf(error)
    if (urls === undefined) return Promise.reject(error)
    if (request.task?.isBegun) {
      const needed = inputRequired(urlQuestions(urls), asking.state)
      // The check: what a task gives was a result in the end, whoever asked before.
      return callRounds(request, asking, needed, run) as Promise<Params>
    }
    return requireUrls(request, rounds, round, asking, urls)
  }
  return { settle, fail }
}

async function requireInput(
  request: ServerRequest,
  rounds: Rounds,
  round: Round | undefined,
  asking: Asking,
  requests: InputRequests,
  state: unknown,
): Promise<Params> {
  const posed = new Map<string, InputRequest>()
  for (const [key, question] of Object.entries(requests)) {
    asking.claim(key)
    posed.set(key, questionFor(request.caller, question).request)
  }
  return rounds.ask(request, asking, round, { posed, requests, state })
}

interface UrlNeeded {
  readonly message: string
  readonly url: string
  readonly elicitationId?: string
}

/** The pages that a handler says must be visited first, by `errors.urlElicitationRequired(…)`. */
function urlsOf(error: unknown): readonly UrlNeeded[] | undefined {
  if (!(error instanceof RpcError) || error.kind !== 'url_elicitation_required') return undefined
  const listed = isRecord(error.data) ? error.data.elicitations : undefined
  const isNeeded = (one: unknown): one is UrlNeeded =>
    isRecord(one) && typeof one.message === 'string' && typeof one.url === 'string'
  if (Array.isArray(listed) && listed.length > 0 && listed.every(isNeeded)) return listed
  return undefined
}

/** The same error in the words of a session, or why the client cannot be told. */
function urlsRequired(request: ServerRequest, error: unknown): unknown {
  const urls = urlsOf(error)
  if (urls === undefined) return error
  try {
    const elicitations = urls.map(url => poseUrl(request.caller, url).params)
    for (const { elicitationId } of elicitations) request.session?.elicitations.add(elicitationId)
    const { message } = error as RpcError
    return errors.urlElicitationRequired({ elicitations }, { message })
  } catch (refusal) {
    return refusal
  }
}

/** The same as questions, for revisions without that error. A page that was refused ends it. */
async function requireUrls(
  request: ServerRequest,
  rounds: Rounds,
  round: Round | undefined,
  asking: Asking,
  urls: readonly UrlNeeded[],
): Promise<Params> {
  const requests = urlQuestions(urls)
  for (const key of Object.keys(requests)) {
    const answer = asking.answers.get(key)
    if (isRecord(answer) && answer.action !== 'accept') {
      throw errors.elicitationFailed({ reason: 'the page was not visited' })
    }
  }
  return requireInput(request, rounds, round, asking, requests, asking.state)
}

function urlQuestions(urls: readonly UrlNeeded[]): InputRequests {
  const questions = urls.map(({ message, url }, place) => {
    const params = { mode: 'url', message, url } as const
    return [`url-${place}`, { method: 'elicitation/create', params } as const] as const
  })
  return Object.fromEntries(questions)
}
