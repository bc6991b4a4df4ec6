import type { Link } from '../../client/connection/connection.ts'
import type { RpcError } from '../../jsonrpc/error.ts'
import type { Id } from '../../jsonrpc/message.ts'
import { IdTable } from '../../jsonrpc/peer/id-table.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { metaKeys } from '../../mcp/meta.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import type { Clock } from '../../util/time/clock.ts'
import type { Deadlines } from '../../util/time/deadline.ts'
import type { Errand } from '../forward/errand.ts'
import { Doubt, haveSeveralOwners, type Suspect } from './ambiguous-request.ts'
import { Errands } from './in-flight-list.ts'

/** What tells whose a question is goes by. */
export interface UnderwayOptions {
  readonly clock: Clock
  readonly deadlines: Deadlines
  /** How long a question waits until it is clear whose it is; 0 refuses it at once. */
  readonly doubtMs: number
}

/** A question of a server, as far as it says whose it is. */
export interface Unclaimed {
  readonly method: string
  readonly params?: unknown
  /** The request on whose stream it came, where each has one. */
  readonly about?: Id
  readonly signal: AbortSignal
}

/** A call whose caller can be asked something. */
export interface Asker extends Errand {
  readonly ask: NonNullable<Errand['ask']>
}

/** A call that nobody waits for any more, but whose server may not have heard of that, or not care. */
interface Abandoned extends Suspect {
  readonly untilMs: number
}

/**
 * The calls under way on one connection, and what tells whose a question is that names none.
 *
 * A question that is put to the wrong caller shows it what is somebody else's, so nothing is guessed:
 * it is that of a caller only when nobody else's call can have asked it. Calls that were given up count
 * for a while, because many servers go on with them, and never answer them.
 */
export class Underway {
  readonly #options: UnderwayOptions
  readonly #errands = new Errands()
  /** By the ids of their requests, where each request has a stream of its own. */
  readonly #byId = new IdTable<Errand>()
  readonly #byTask = new Map<string, Errand>()
  /** Those whose server has asked something: what it asks next is theirs only while nobody joins them. */
  readonly #asking = new Set<Errand>()
  /** By the id of the request, or by the errand of a task; oldest first. */
  readonly #abandoned = new Map<Id | Errand, Abandoned>()
  /** Stands for those of whom there were too many to be remembered. */
  #unknown: Abandoned | undefined
  readonly #doubts = new Set<Doubt>()

  constructor(options: UnderwayOptions) {
    this.#options = options
  }

  /** Calls under way. */
  get size(): number {
    return this.#errands.size
  }

  /** Questions that wait until it is clear whose they are. */
  get doubts(): number {
    return this.#doubts.size
  }

  begin(errand: Errand): void {
    this.#errands.add(errand)
  }

  /** Its request has a stream of its own, so that what comes on that stream names it. */
  name(id: Id, errand: Errand): void {
    this.#byId.set(id, errand)
  }

  /** The call that a message belongs to: the one that it names, or the only one it can be. */
  of(about: Id | undefined): Errand | undefined {
    return about === undefined ? this.#sole() : this.#byId.get(about)
  }

  /**
   * A call is over: with a result, or without one where it has failed. Does nothing for one that was
   * given up.
   */
  end(errand: Errand, id?: Id, result?: unknown): void {
    if (id !== undefined) this.#byId.delete(id)
    if (!this.#errands.delete(errand)) return
    if (this.#asking.size > 0) this.#asking.delete(errand)
    if (this.#doubts.size > 0) this.#ruleOut(errand, result)
  }

  /**
   * Nobody waits for a call any more. What its server still asks for it must not be put to anybody else,
   * until the server has answered it after all, or for so long. A stateless server cannot ask.
   */
  abandon(errand: Errand, id: Id | Errand, { revision }: Pick<Link, 'revision'>): void {
    if (revision?.era !== 'session' || !this.#errands.delete(errand)) return
    this.#asking.delete(errand)
    const { owner } = errand
    const untilMs = this.#options.clock.now() + limits.abandonedMs.default
    const abandoned: Abandoned = { owner, untilMs }
    this.#abandoned.set(id, abandoned)
    for (const doubt of this.#doubts) doubt.replace(errand, abandoned)
    this.#forgetAbandoned()
  }

  /** The answer to a call that was given up has come: with a result, or without one where it has failed. */
  late(id: Id, result?: unknown): void {
    const abandoned = this.#abandoned.get(id)
    if (abandoned === undefined) return
    this.#abandoned.delete(id)
    this.#ruleOut(abandoned, result)
  }

  /** Something goes on on behalf of a call that has been answered: perhaps a task, which questions name. */
  keep(errand: Errand, taskId?: string): void {
    this.#errands.add(errand)
    if (taskId === undefined) return
    this.#byTask.set(taskId, errand)
    for (const doubt of this.#doubts) if (doubt.taskId === taskId) doubt.settle(errand)
  }

  /** The opposite; with what it gave, unless it has failed. */
  forget(errand: Errand, taskId: string | undefined, result?: unknown): void {
    if (taskId !== undefined) this.#byTask.delete(taskId)
    this.end(errand, undefined, result)
  }

  /**
   * Whether a call of this owner can join those under way without anybody's questions becoming
   * doubtful. Where each call has a stream of its own a server has other ways to say whose they are.
   */
  isOpenTo(owner: unknown, hasStreams: boolean): boolean {
    if (this.#doubts.size > 0) return false
    for (const errand of this.#asking) if (errand.owner !== owner) return false
    if (hasStreams) return true
    for (const abandoned of this.#lingering()) if (abandoned.owner !== owner) return false
    return true
  }

  /** The latest of the calls, where nothing that a server says can be that of another owner. */
  #sole(): Errand | undefined {
    return haveSeveralOwners(this.#suspects()) ? undefined : latest(this.#errands)
  }

  /**
   * The call that a question belongs to: the one that it names, or the only one it can be; at once where
   * that is clear, else when it has become clear. Throws, or rejects, with an RpcError where there is
   * nobody who could be asked, or too many for too long, and rejects with the reason of the signal.
   */
  whose(question: Unclaimed): Asker | Promise<Asker> {
    const { about, params } = question
    const taskId = taskOf(params)
    if (about !== undefined || taskId !== undefined) {
      const named = about === undefined ? undefined : this.#byId.get(about)
      const errand = named ?? this.#byTask.get(taskId ?? '')
      // The first question of a task may come before it is known what has become of its call.
      if (errand === undefined && taskId !== undefined) return this.#clearUp(question, [], taskId)
      return this.#asker(question, errand)
    }
    const suspects = [...this.#suspects()]
    if (haveSeveralOwners(suspects)) return this.#clearUp(question, suspects)
    return this.#askerOf(question, suspects)
  }

  /**
   * What has done its work waits for no answer any more. What has failed may have left a question behind,
   * as whoever asks two at once does when the first is refused.
   */
  #ruleOut(suspect: Suspect, result: unknown): void {
    if (!isRecord(result) || result.isError === true) return
    for (const doubt of this.#doubts) doubt.rule(suspect)
  }

  async #clearUp(
    question: Unclaimed,
    suspects: Iterable<Suspect>,
    taskId?: string,
  ): Promise<Asker> {
    const { deadlines, doubtMs: waitMs } = this.#options
    const { method, signal } = question
    const refusal = (): RpcError => refused(method, taskId === undefined ? doubtful : none)
    if (!(waitMs > 0) || this.#doubts.size >= limits.doubtfulQuestions.default) throw refusal()
    const doubt = new Doubt(suspects, { deadlines, waitMs, signal, refusal, taskId })
    this.#doubts.add(doubt)
    try {
      await doubt.cleared
    } finally {
      this.#doubts.delete(doubt)
    }
    // The connection may have ended, or the last one have been answered, in the same moment.
    signal.throwIfAborted()
    return this.#askerOf(question, doubt.suspects)
  }

  /** Whom to ask of those who are left, all of whom have the same owner: the latest who can be asked. */
  #askerOf(question: Unclaimed, suspects: Iterable<Suspect>): Asker {
    // The check: only errands are ever among those under way.
    const errands = Array.from(suspects as Iterable<Errand>)
    const current = errands.filter(errand => this.#errands.has(errand))
    if (errands.length > 0 && current.length === 0) {
      throw refused(question.method, 'the call that it belongs to has been given up')
    }
    const asker = this.#asker(question, latest(current.filter(isAsker)) ?? latest(current))
    this.#asking.add(asker)
    return asker
  }

  #asker({ method }: Unclaimed, errand: Errand | undefined): Asker {
    if (errand === undefined) throw refused(method, none)
    if (isAsker(errand)) return errand
    throw refused(method, 'whoever made the call that it belongs to cannot be asked anything')
  }

  /** All that a question can belong to which comes now. */
  *#suspects(): Generator<Suspect, void, undefined> {
    yield* this.#errands
    yield* this.#lingering()
  }

  /** Those that were given up and may still ask. */
  *#lingering(): Generator<Abandoned, void, undefined> {
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

  /** So many are remembered one by one; of more it is only known that there are some. */
  #forgetAbandoned(): void {
    if (this.#abandoned.size <= limits.abandonedCalls.default) return
    for (const [id, { untilMs }] of this.#abandoned) {
      this.#abandoned.delete(id)
      this.#unknown = { owner: this.#unknown?.owner ?? Symbol('somebody'), untilMs }
      return
    }
  }
}

const none = 'no call is under way that it could belong to'
const doubtful =
  'it cannot be told whose call it belongs to; "connections": "each" gives every caller its own'

function isAsker(errand: Errand): errand is Asker {
  return errand.ask !== undefined
}

function latest<T>(all: Iterable<T>): T | undefined {
  let last: T | undefined
  for (const one of all) last = one
  return last
}

/** Why a question gets no answer: there is nobody to be asked, or too many it could be. */
function refused(method: string, why: string): RpcError {
  return errors.capabilityNotSupported({ capability: method }, { message: `${method}: ${why}` })
}

/** The task that a question says it belongs to, as it must from the revision on that has them. */
function taskOf(params: unknown): string | undefined {
  const meta = isRecord(params) ? params._meta : undefined
  const task = isRecord(meta) ? meta[metaKeys.relatedTask] : undefined
  return isRecord(task) && typeof task.taskId === 'string' ? task.taskId : undefined
}
