import { ChannelError } from '../../jsonrpc/channel.ts'
import type { CallOptions } from '../../jsonrpc/handler.ts'
import type { Id } from '../../jsonrpc/message.ts'
import type { Waiter } from '../../jsonrpc/peer/pending.ts'
import { tasksExtension } from '../../mcp/extension.ts'
import { methodRow } from '../../mcp/methods.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import type { LogLevel } from '../../mcp/types/base.ts'
import { orAborted } from '../../util/abort.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord } from '../../util/record.ts'
import type { ResponseCache, Ticket } from '../cache.ts'
import type { Begun, LinkCallOptions } from '../connection/connection.ts'
import type { Opened } from '../connection/negotiate.ts'
import type { Lifeline } from '../connection/reconnect.ts'
import { senderMeta, withMeta } from '../connection/request-meta.ts'
import { isLost, isUnsent } from '../errors.ts'
import type { Answerer } from '../server-requests/handlers.ts'
import type { Settings } from '../settings.ts'
import { checkDeclared } from '../strict.ts'
import { Patience } from './call-timeout.ts'
import { answerAll, inputRequired, isComplete, type Retry, resultTypeOf } from './input-rounds.ts'
import type { Progress, ProgressBoard } from './progress.ts'

/** How a request is made. */
export interface RequestOptions extends CallOptions {
  /** Told how far the call has come. Every step makes the wait for the reply begin anew. */
  readonly onProgress?: (progress: Progress) => void
  /** How long the call may take altogether, however much progress it makes. */
  readonly maxTotalMs?: number
  /** Asks the server even if an earlier result is still fresh. */
  readonly fresh?: boolean
}

/** What requests are made with. */
export interface RequestParts {
  readonly settings: Settings
  readonly lifeline: () => Lifeline
  readonly answerer: Answerer
  readonly cache: ResponseCache
  readonly progress: ProgressBoard
  /** The level that stateless requests ask to be logged at. */
  readonly logLevel: () => LogLevel | undefined
}

/**
 * Makes requests, and sees each of them through: over lost connections, through rounds of questions,
 * past fresh results of the same request.
 */
export class Requests {
  readonly #parts: RequestParts
  /** The calls whose time stands still while this side is being asked something. */
  readonly #waiting = new Set<Patience>()
  #questions = 0
  #said: { revision: Revision; logLevel: LogLevel | undefined; meta: object } | undefined

  constructor(parts: RequestParts) {
    this.#parts = parts
  }

  /**
   * Sends a request and settles with its final result. Rejects with an RpcError when the server
   * refuses, with a ChannelError when no reply can come, and with the signal's own reason.
   */
  request(method: string, params?: object, options?: RequestOptions): Promise<unknown> {
    return this.requestAs(asIs, method, params, options)
  }

  /**
   * The same, settled with what `read` makes of the final result. It is called inside the delivery of
   * the reply, so whatever runs the code of others in it returns a promise first.
   */
  requestAs<T>(
    read: (result: unknown) => T | Promise<T>,
    method: string,
    params?: object,
    options: RequestOptions = {},
  ): Promise<T> {
    const run = new Run(method, options, this.#parts.settings.clock.now())
    try {
      const opened = this.#plainly(run)
      if (opened === undefined) return this.#throughout(run, params).then(read)
      const sent = this.enveloped(opened, params)
      // One promise for all of it: each further one costs a tenth of a call to a server in this process.
      return new Promise(settle => {
        const plain = new PlainCall(this.#plain, run, opened, params, read, settle)
        plain.id = opened.link.start(plain, method, sent, options)
      })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Sends a request that its caller looks after: never repeated, never answered from the cache. */
  begin(opened: Opened, method: string, params: object, options: LinkCallOptions): Begun {
    const begun = opened.link.begin(method, this.enveloped(opened, params), options)
    begun.reply.then(undefined, error => {
      if (isUnsent(error) && !this.#parts.lifeline().isClosed) opened.link.lose(error)
    })
    return begun
  }

  /** Params with what the revision wants to be told with each request. */
  enveloped({ server }: Opened, params: object | undefined): object | undefined {
    return withMeta(params, { sender: this.#sender(server.revision) })
  }

  /** While this side is being asked, nobody's patience with the server runs out. */
  async whileAsked<T>(answering: () => Promise<T>): Promise<T> {
    this.#questions++
    for (const patience of this.#waiting) patience.pause()
    try {
      return await answering()
    } finally {
      this.#questions--
      for (const patience of this.#waiting) patience.resume()
    }
  }

  /**
   * The connection, if the request can be sent on it at once and nothing but its reply is to be looked
   * after, as for nearly every call: those take no detour.
   */
  #plainly(run: Run): Opened | undefined {
    const opened = this.#parts.lifeline().ready()
    if (opened instanceof Promise || run.options.onProgress !== undefined) return undefined
    if (this.#parts.settings.strict) checkDeclared(opened.server, run.method)
    const row = methodRow(run.method)
    const isDetour =
      opened.server.revision.era === 'session'
        ? row?.mayAsk && this.#parts.answerer.isSlow
        : row?.cacheable
    return isDetour ? undefined : opened
  }

  /** What follows a plain call that did not end with its reply. */
  readonly #plain: PlainHost = {
    goOn: async ({ run, opened, params }, result) => {
      // Nobody's code is to run inside the delivery of a message.
      await undefined
      return this.#throughout(run, params, { result, revision: opened.server.revision })
    },
    recover: async ({ run, opened, params, id }, error) => {
      // A call may fail inside the end of its connection; what that means is known when it has ended.
      await undefined
      const why = opened.link.failure(error, run.method, id, run.options)
      this.#repeat(run, opened, params, why)
      return this.#throughout(run, params)
    },
  }

  async #throughout(run: Run, params: object | undefined, first?: Delivered): Promise<unknown> {
    try {
      return await this.#rounds(run, params, first)
    } finally {
      if (run.patience !== undefined) {
        run.patience.end()
        this.#waiting.delete(run.patience)
      }
    }
  }

  async #rounds(run: Run, params: object | undefined, first?: Delivered): Promise<unknown> {
    let delivered = first ?? (await this.#deliver(run, params, false))
    for (let round = 0; ; round++) {
      const { result, revision } = delivered
      if (revision.era === 'session') return result
      const type = resultTypeOf(result, run.method, this.#mayBecomeTasks(revision))
      if (type !== 'input_required') return result
      if (round >= limits.inputRounds.default) {
        const what = `${run.method}: the server still asks after ${round} rounds of answers`
        throw new ChannelError('too-many', what)
      }
      const retry = await this.#answered(run, inputRequired(result, run.method), revision)
      delivered = await this.#deliver(run, { ...params, ...retry }, true)
    }
  }

  /** What the next attempt says in answer to the questions. */
  async #answered(
    run: Run,
    { inputRequests, requestState }: ReturnType<typeof inputRequired>,
    revision: Revision,
  ): Promise<Retry> {
    const { answerer, lifeline } = this.#parts
    run.patience ??= this.#patience(run)
    const { patience } = run
    const signals = [lifeline().gone, patience.signal, run.options.signal]
    const signal = AbortSignal.any(signals.filter(one => one !== undefined))
    patience.pause()
    try {
      const answering = answerAll(run.method, inputRequests, { answerer, revision, signal })
      const inputResponses = await orAborted(answering, signal)
      return {
        ...(inputRequests !== undefined && { inputResponses }),
        ...(requestState !== undefined && { requestState }),
      }
    } finally {
      patience.resume()
    }
  }

  /** Gets one reply, on whichever connection there is, if the cache does not have it. */
  async #deliver(run: Run, params: object | undefined, isRetry: boolean): Promise<Delivered> {
    for (;;) {
      const opened = await this.#opened(run)
      const { revision } = opened.server
      if (this.#parts.settings.strict) checkDeclared(opened.server, run.method)
      const ticket = isRetry ? undefined : this.#ticket(run, params, revision)
      const known = ticket === undefined || run.options.fresh ? undefined : this.#cached(ticket)
      if (known !== undefined) return { result: known, revision }
      try {
        const result = await this.#send(run, opened, params)
        // A question is no result: its hints, if it has any, do not count.
        if (ticket !== undefined && isRecord(result) && result.resultType !== 'input_required') {
          this.#parts.cache.put(ticket, params, result)
        }
        return { result, revision }
      } catch (error) {
        this.#repeat(run, opened, params, error)
      }
    }
  }

  /** Throws the error unless the request may be sent again: because it never was, or does no harm. */
  #repeat(run: Run, { link, server }: Opened, params: object | undefined, error: unknown): void {
    // A cursor means nothing to the next session: whoever has one begins from the beginning.
    if (params !== undefined && 'cursor' in params && server.revision.era === 'session') throw error
    if (isUnsent(error) && !this.#parts.lifeline().isClosed) link.lose(error)
    else if (!isLost(error) || !isRepeatable(run.method) || run.repeats++ > 0) throw error
  }

  #send(run: Run, opened: Opened, params: object | undefined): Promise<unknown> {
    const { link, server } = opened
    const { settings, progress } = this.#parts
    const { onProgress } = run.options
    const progressToken =
      onProgress === undefined
        ? undefined
        : progress.watch(step => {
            run.patience?.extend()
            onProgress(step)
          })
    const sent = withMeta(params, { progressToken, sender: this.#sender(server.revision) })
    const { patience } = run
    const { signal, timeoutMs = settings.timeoutMs } = run.options
    if (patience === undefined) return link.call(run.method, sent, { signal, timeoutMs })
    // The link gives its own up in the end, should the reply of one given up here never come.
    const { maxTotalMs = settings.totalMs } = run.options
    const lastMs = maxTotalMs > 0 ? Math.max(maxTotalMs, timeoutMs) : 0
    const { reply, giveUp } = link.begin(run.method, sent, { signal, timeoutMs: lastMs })
    const answered = patience.wait(reply, giveUp)
    if (progressToken === undefined) return answered
    return answered.finally(() => progress.unwatch(progressToken))
  }

  /** Who sends it, as stateless revisions want to be told each time; the same object while nothing changes. */
  #sender(revision: Revision): object | undefined {
    if (revision.era === 'session') return undefined
    const { settings, answerer } = this.#parts
    const logLevel = this.#parts.logLevel()
    if (this.#said?.revision !== revision || this.#said.logLevel !== logLevel) {
      const capabilities = answerer.capabilities(revision)
      const meta = senderMeta({ revision, capabilities, info: settings.info, logLevel })
      this.#said = { revision, logLevel, meta }
    }
    return this.#said.meta
  }

  /** Whether the server has been told that it may answer with tasks. */
  #mayBecomeTasks(revision: Revision): boolean {
    const { extensions } = this.#parts.answerer.capabilities(revision)
    return extensions?.[tasksExtension] !== undefined
  }

  /** The connection; waiting for it is bounded as waiting for the reply is. */
  #opened(run: Run): Opened | Promise<Opened> {
    run.patience ??= this.#patience(run)
    const opened = this.#parts.lifeline().ready()
    if (!(opened instanceof Promise)) return opened
    return run.patience.wait(orAborted(opened, run.options.signal))
  }

  #ticket(run: Run, params: object | undefined, revision: Revision): Ticket | undefined {
    if (revision.era === 'session' || !methodRow(run.method)?.cacheable) return undefined
    return this.#parts.cache.ticket(run.method, params)
  }

  #cached(ticket: Ticket): unknown {
    return this.#parts.cache.get(ticket)
  }

  #patience({ method, options, startedAt }: Run): Patience {
    const { settings } = this.#parts
    const elapsedMs = settings.clock.now() - startedAt
    const patience = new Patience({
      what: method,
      deadlines: settings.deadlines,
      // One that waited without patience before must not wait the whole time once more.
      elapsedMs,
      timeoutMs: options.timeoutMs ?? settings.timeoutMs,
      totalMs: options.maxTotalMs ?? settings.totalMs,
    })
    this.#waiting.add(patience)
    for (let open = this.#questions; open > 0; open--) patience.pause()
    return patience
  }
}

/** Whether a request changes nothing, or nothing twice: lost with its connection, it is sent again. */
function isRepeatable(method: string): boolean {
  return methodRow(method)?.twice !== undefined
}

/** One request from its beginning to its end. */
class Run {
  readonly method: string
  readonly options: RequestOptions
  readonly startedAt: number
  patience: Patience | undefined
  /** How often it was sent again after it may have been carried out. */
  repeats = 0

  constructor(method: string, options: RequestOptions, startedAt: number) {
    this.method = method
    this.options = options
    this.startedAt = startedAt
  }
}

/** A request as it was sent. */
interface Sent {
  readonly run: Run
  readonly opened: Opened
  readonly params: object | undefined
  /** Unknown while it is being sent, and for good if it was refused at once. */
  readonly id: Id | undefined
}

interface PlainHost {
  /** Sees a request through whose first result is not the last. */
  goOn(sent: Sent, result: unknown): Promise<unknown>
  /** Sends a request again that failed, if it may be; rejects otherwise. */
  recover(sent: Sent, error: unknown): Promise<unknown>
}

function asIs(result: unknown): unknown {
  return result
}

/** A request that waits for its reply and, most likely, for nothing else. */
class PlainCall<T> implements Waiter, Sent {
  readonly run: Run
  readonly opened: Opened
  readonly params: object | undefined
  id: Id | undefined
  readonly #host: PlainHost
  readonly #read: (result: unknown) => T | Promise<T>
  readonly #settle: (outcome: T | Promise<T>) => void

  constructor(
    host: PlainHost,
    run: Run,
    opened: Opened,
    params: object | undefined,
    read: (result: unknown) => T | Promise<T>,
    settle: (outcome: T | Promise<T>) => void,
  ) {
    this.#host = host
    this.run = run
    this.opened = opened
    this.params = params
    this.#read = read
    this.#settle = settle
  }

  resolve(result: unknown): void {
    const isFinal = this.opened.server.revision.era === 'session' || isComplete(result)
    if (!isFinal) {
      this.#settle(this.#host.goOn(this, result).then(this.#read))
      return
    }
    try {
      this.#settle(this.#read(result))
    } catch (error) {
      this.#settle(Promise.reject(error))
    }
  }

  reject(error: unknown): void {
    this.#settle(this.#host.recover(this, error).then(this.#read))
  }
}

interface Delivered {
  readonly result: unknown
  readonly revision: Revision
}
