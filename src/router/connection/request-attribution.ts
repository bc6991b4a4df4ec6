import type { Connection } from '../../client/connection/connection.ts'
import type { RpcError } from '../../jsonrpc/error.ts'
import type { Id } from '../../jsonrpc/message.ts'
import { IdTable } from '../../jsonrpc/peer/id-table.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { metaKeys } from '../../mcp/meta.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord, ownMember } from '../../util/objects.ts'
import type { Clock } from '../../util/time/clock.ts'
import type { Deadlines } from '../../util/time/deadline.ts'
import {
  AmbiguousRequest,
  type AttributionCandidate,
  hasSeveralOwners,
} from './ambiguous-request.ts'
import { type InFlightCall, InFlightList } from './in-flight-list.ts'

export interface AttributionOptions {
  readonly clock: Clock
  readonly deadlines: Deadlines
  /** How long an ambiguous server request is held until it can be attributed; 0 rejects it at once. */
  readonly attributionTimeoutMs: number
}

/** A server request, as far as it says which call it belongs to. */
export interface UnattributedRequest {
  readonly method: string
  readonly params?: unknown
  /** The id of the request on whose stream it came, where each request has a stream of its own. */
  readonly about?: Id
  readonly signal: AbortSignal
}

/** A call whose caller takes server requests. */
export interface AskableCall extends InFlightCall {
  readonly ask: NonNullable<InFlightCall['ask']>
}

/** A call that its caller gave up, but that the server may still be running. */
interface AbandonedCall extends AttributionCandidate {
  readonly untilMs: number
}

/**
 * Keeps the calls in flight on one connection and attributes messages of the server to them.
 *
 * A server request that is shown to the wrong caller reveals data of another one, so nothing is guessed:
 * a request that names no call belongs to a caller only if no call of another caller can have sent it.
 * Abandoned calls stay candidates for a while, because many servers continue them and never respond.
 */
export class RequestAttribution {
  readonly #options: AttributionOptions
  readonly #calls = new InFlightList()
  /** By the ids of their requests, where each request has a stream of its own. */
  readonly #byId = new IdTable<InFlightCall>()
  readonly #byTask = new Map<string, InFlightCall>()
  /** Calls whose server has sent a request: its next one is theirs only while no other owner joins. */
  readonly #asking = new Set<InFlightCall>()
  /** By the id of the request, or by the call of a task; oldest first. */
  readonly #abandoned = new Map<Id | InFlightCall, AbandonedCall>()
  /** Stands for abandoned calls beyond the number that is remembered. */
  #unknown: AbandonedCall | undefined
  readonly #ambiguous = new Set<AmbiguousRequest>()

  constructor(options: AttributionOptions) {
    this.#options = options
  }

  /** Calls in flight. */
  get size(): number {
    return this.#calls.size
  }

  /** Server requests that are held because they are ambiguous. */
  get ambiguous(): number {
    return this.#ambiguous.size
  }

  begin(call: InFlightCall): void {
    this.#calls.add(call)
  }

  /** Binds a call to the stream of its request: messages on that stream belong to the call. */
  bind(id: Id, call: InFlightCall): void {
    this.#byId.set(id, call)
  }

  /** Returns the call that a notification belongs to: the one that it names, or the only candidate. */
  callFor(about: Id | undefined): InFlightCall | undefined {
    return about === undefined ? this.#sole() : this.#byId.get(about)
  }

  /**
   * Removes a call that has completed with `result`, or that has failed if there is none. Does nothing
   * for an abandoned call.
   */
  end(call: InFlightCall, id?: Id, result?: unknown): void {
    if (id !== undefined) this.#byId.delete(id)
    if (!this.#calls.delete(call)) return
    if (this.#asking.size > 0) this.#asking.delete(call)
    if (this.#ambiguous.size > 0) this.#exclude(call, result)
  }

  /**
   * Removes a call that its caller gave up. What its server still requests for it must not be shown to
   * another caller, until the server responds after all, or `abandonedMs` have passed. A stateless server
   * cannot send requests.
   */
  abandon(
    call: InFlightCall,
    id: Id | InFlightCall,
    { revision }: Pick<Connection, 'revision'>,
  ): void {
    if (revision?.features.serverRequests !== 'call' || !this.#calls.delete(call)) return
    this.#asking.delete(call)
    const untilMs = this.#options.clock.now() + limits.abandonedMs.default
    const abandoned: AbandonedCall = { owner: call.owner, untilMs }
    this.#abandoned.set(id, abandoned)
    for (const request of this.#ambiguous) request.replace(call, abandoned)
    this.#limitAbandoned()
  }

  /** Handles the response to an abandoned call: with a result, or without one if the call failed. */
  onLate(id: Id, result?: unknown): void {
    const abandoned = this.#abandoned.get(id)
    if (abandoned === undefined) return
    this.#abandoned.delete(id)
    this.#exclude(abandoned, result)
  }

  /** Keeps a call that was answered, because work continues for it: a task, which server requests name. */
  keep(call: InFlightCall, taskId?: string): void {
    this.#calls.add(call)
    if (taskId === undefined) return
    this.#byTask.set(taskId, call)
    for (const request of this.#ambiguous) if (request.taskId === taskId) request.attribute(call)
  }

  /** Undoes `keep`; with the result, unless the work failed. */
  release(call: InFlightCall, taskId: string | undefined, result?: unknown): void {
    if (taskId !== undefined) this.#byTask.delete(taskId)
    this.end(call, undefined, result)
  }

  /**
   * Returns whether a call of this owner can join without making any server request ambiguous. With a
   * stream per request, the server can name the call of its requests, so abandoned calls do not matter.
   */
  isOpenTo(owner: unknown, hasStreams: boolean): boolean {
    if (this.#ambiguous.size > 0) return false
    for (const call of this.#asking) if (call.owner !== owner) return false
    if (hasStreams) return true
    for (const abandoned of this.#lingering()) if (abandoned.owner !== owner) return false
    return true
  }

  /**
   * Returns the call that a server request belongs to: the one that it names, or the only candidate; at
   * once where that is clear, else when it has become clear. Throws, or rejects, with an RpcError if no
   * caller can answer, or if several candidates are left after `attributionTimeoutMs`. Rejects with the
   * reason of the signal.
   */
  attribute(request: UnattributedRequest): AskableCall | Promise<AskableCall> {
    const { about, params } = request
    const taskId = taskIdIn(params)
    if (about !== undefined || taskId !== undefined) {
      const named = about === undefined ? undefined : this.#byId.get(about)
      const call = named ?? this.#byTask.get(taskId ?? '')
      // The first request of a task may come before the response that says which call became the task.
      if (call === undefined && taskId !== undefined) return this.#hold(request, [], taskId)
      return askable(request, call)
    }
    const candidates = [...this.#candidates()]
    if (hasSeveralOwners(candidates)) return this.#hold(request, candidates)
    return this.#latestOf(request, candidates)
  }

  /** The latest call, if no message of the server can belong to another owner. */
  #sole(): InFlightCall | undefined {
    return hasSeveralOwners(this.#candidates()) ? undefined : latest(this.#calls)
  }

  /**
   * A call that completed does not wait for an answer any more. One that failed may have left a request
   * behind, as a server does that sends two at once and stops when the first is rejected.
   */
  #exclude(candidate: AttributionCandidate, result: unknown): void {
    if (!isRecord(result) || result.isError === true) return
    for (const request of this.#ambiguous) request.exclude(candidate)
  }

  async #hold(
    request: UnattributedRequest,
    candidates: Iterable<AttributionCandidate>,
    taskId?: string,
  ): Promise<AskableCall> {
    const { deadlines, attributionTimeoutMs: waitMs } = this.#options
    const { method, signal } = request
    const rejection = (): RpcError => rejected(method, taskId === undefined ? ambiguous : noCall)
    if (!(waitMs > 0) || this.#ambiguous.size >= limits.ambiguousRequests.default) throw rejection()
    const held = new AmbiguousRequest(candidates, { deadlines, waitMs, signal, rejection, taskId })
    this.#ambiguous.add(held)
    try {
      await held.attributed
    } finally {
      this.#ambiguous.delete(held)
    }
    // The connection may have closed, or the last call completed, at the same time.
    signal.throwIfAborted()
    return this.#latestOf(request, held.candidates)
  }

  /** Returns the latest of the candidates, which have one owner, whose caller takes server requests. */
  #latestOf(request: UnattributedRequest, candidates: Iterable<AttributionCandidate>): AskableCall {
    // The check: the list of calls in flight holds nothing but calls.
    const calls = Array.from(candidates as Iterable<InFlightCall>)
    const inFlight = calls.filter(call => this.#calls.has(call))
    if (calls.length > 0 && inFlight.length === 0) {
      throw rejected(request.method, 'the call that it belongs to was abandoned')
    }
    const call = askable(request, latest(inFlight.filter(isAskable)) ?? latest(inFlight))
    this.#asking.add(call)
    return call
  }

  /** Everything that a server request which comes now can belong to. */
  *#candidates(): Generator<AttributionCandidate, void, undefined> {
    yield* this.#calls
    yield* this.#lingering()
  }

  /** Abandoned calls whose server may still send requests. */
  *#lingering(): Generator<AbandonedCall, void, undefined> {
    if (this.#abandoned.size === 0 && this.#unknown === undefined) return
    const now = this.#options.clock.now()
    for (const [id, abandoned] of this.#abandoned) {
      if (abandoned.untilMs > now) yield abandoned
      else this.#abandoned.delete(id)
    }
    if (this.#unknown === undefined) return
    if (this.#unknown.untilMs > now) yield this.#unknown
    else this.#unknown = undefined
  }

  /** Remembers `abandonedCalls` of them one by one; of more only that there are some. */
  #limitAbandoned(): void {
    if (this.#abandoned.size <= limits.abandonedCalls.default) return
    for (const [id, { untilMs }] of this.#abandoned) {
      this.#abandoned.delete(id)
      this.#unknown = { owner: this.#unknown?.owner ?? Symbol('unknown'), untilMs }
      return
    }
  }
}

const noCall = 'no call is in flight that it could belong to'
const ambiguous =
  'it could belong to calls of several callers; "connections": "per-caller" gives each caller its own connection'

function askable({ method }: UnattributedRequest, call: InFlightCall | undefined): AskableCall {
  if (call === undefined) throw rejected(method, noCall)
  if (isAskable(call)) return call
  throw rejected(method, 'the caller of the call that it belongs to takes no server requests')
}

function isAskable(call: InFlightCall): call is AskableCall {
  return call.ask !== undefined
}

function latest<T>(all: Iterable<T>): T | undefined {
  let last: T | undefined
  for (const one of all) last = one
  return last
}

/** The error for a server request that no caller answers. */
function rejected(method: string, why: string): RpcError {
  return errors.capabilityNotSupported({ capability: method }, { message: `${method}: ${why}` })
}

/** The task that a server request names, as it must in revisions that have tasks. */
function taskIdIn(params: unknown): string | undefined {
  const meta = ownMember(params, '_meta')
  const task = ownMember(meta, metaKeys.relatedTask)
  return isRecord(task) && typeof task.taskId === 'string' ? task.taskId : undefined
}
