import { unreadParams, wholeMessage } from '../../jsonrpc/codec/raw-json.ts'
import { writeOnce } from '../../jsonrpc/codec/stringify.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { Exchange } from '../../jsonrpc/handler.ts'
import type { RpcNotification, RpcRequest } from '../../jsonrpc/message.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { toWire } from '../../mcp/errors/wire.ts'
import { metaKeys } from '../../mcp/meta.ts'
import type { Profile } from '../../mcp/profile.ts'
import type { Revision } from '../../mcp/revisions/revisions.ts'
import { implementationFor } from '../../mcp/revisions/shape.ts'
import type { Implementation } from '../../mcp/types/base.ts'
import { frozenCopy } from '../../util/frozen.ts'
import { isRecord } from '../../util/record.ts'
import { Cancelled, Declined } from '../input/elicit.ts'
import type { Params } from '../request.ts'
import { cachesOf, type ServerCache, type WholeHints } from './cache-hints.ts'
import type { Session } from './session.ts'

export interface WordingOptions {
  readonly info: Implementation
  readonly profile: Profile
  readonly revisions: readonly Revision[]
  readonly cache: ServerCache | undefined
  readonly onError: (error: unknown, message?: RpcRequest | RpcNotification) => void
}

/** Says results and errors in the words of the revision of whoever asked. */
export class Wording {
  readonly #options: WordingOptions
  readonly #caches: ReadonlyMap<string, WholeHints>
  readonly #metas = new Map<Revision, Params>()
  readonly #stateless: ReadonlyMap<unknown, Revision>

  constructor(options: WordingOptions) {
    this.#options = options
    this.#caches = cachesOf(options.cache)
    const stateless = options.revisions.filter(({ era }) => era === 'stateless')
    this.#stateless = new Map(stateless.map(revision => [revision.name, revision]))
  }

  /** What the stateless revisions add to a result. One that has it already stays as it is. */
  complete(result: Params, revision: Revision, method: string): Params {
    const said = this.#meta(revision)
    // As it is behind a middleware that has only looked: a copy would have to be written anew.
    if (result._meta === said && result.resultType !== undefined) return result
    // Not `{ ...result, _meta }`: members that follow a spread cost Node 20 more than the rest of a call.
    const completed: Record<string, unknown> = { resultType: 'complete' }
    if (result.resultType === undefined) Object.assign(completed, this.#caches.get(method))
    Object.assign(completed, result)
    completed._meta = isRecord(result._meta) ? { ...result._meta, ...said } : said
    return completed
  }

  /** The same for what a middleware gave, which may have come from it alone. */
  completed(result: unknown, message: RpcRequest | RpcNotification): unknown {
    const revision = this.#revisionOf(unreadParams(message))
    if (revision === undefined || !isRecord(result)) return result
    return this.complete(result, revision, message.method)
  }

  /**
   * The error in the numbers of whoever asked; what is no protocol error is reported and hidden. That of
   * a notification stays as it is: nobody is answered, and whoever runs it reports it.
   */
  failure(
    error: unknown,
    message: RpcRequest | RpcNotification,
    exchange: Exchange,
    session: Session | undefined,
  ): unknown {
    if (message.type === 'notification') return error
    const { onError, profile } = this.#options
    const known = error instanceof RpcError ? error : refusalOf(error)
    // A handler that gives up because it was told to has nothing to report.
    if (known === undefined && !exchange.signal.aborted) onError(error, wholeMessage(message))
    const revision = this.#revisionOf(unreadParams(message)) ?? session?.caller?.revision
    const wire = toWire(known ?? errors.internalError(), { profile, revision })
    return new RpcError(wire.code, wire.message, { data: wire.data })
  }

  /** Who answers, as a revision says it. Made once: every result says it. */
  #meta(revision: Revision): Params {
    let said = this.#metas.get(revision)
    if (said === undefined) {
      const info = implementationFor(revision, this.#options.info)
      // A copy of its own can be frozen, as it must be: results carry it by reference.
      said = writeOnce(frozenCopy<Params>({ [metaKeys.serverInfo]: info }))
      this.#metas.set(revision, said)
    }
    return said
  }

  /** The revision that a request speaks for itself, if it is one that is served. */
  #revisionOf(params: unknown): Revision | undefined {
    const meta = isRecord(params) ? params._meta : undefined
    return isRecord(meta) ? this.#stateless.get(meta[metaKeys.protocolVersion]) : undefined
  }
}

/** A person's no, which is no failure; undefined for what nobody outside is to know. */
function refusalOf(error: unknown): RpcError | undefined {
  if (error instanceof Cancelled) return errors.elicitationCancelled()
  const isDeclined = error instanceof Declined
  return isDeclined ? errors.elicitationFailed({ reason: error.message }) : undefined
}
