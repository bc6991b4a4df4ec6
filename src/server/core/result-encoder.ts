import { parsedMessage, rawParams } from '../../jsonrpc/codec/raw-json.ts'
import { cacheJson } from '../../jsonrpc/codec/stringify.ts'
import { RpcError } from '../../jsonrpc/error.ts'
import type { Exchange } from '../../jsonrpc/handler.ts'
import type { RpcNotification, RpcRequest } from '../../jsonrpc/message.ts'
import { errors } from '../../mcp/errors/constructors.ts'
import { toWire } from '../../mcp/errors/wire.ts'
import { metaKeys } from '../../mcp/meta.ts'
import type { Profile } from '../../mcp/profile.ts'
import { type Revision, revisionsOf } from '../../mcp/revisions/revisions.ts'
import { implementationFor } from '../../mcp/revisions/shape.ts'
import type { Implementation } from '../../mcp/types/base.ts'
import { assignMembers, frozenCopy, isRecord, ownMember } from '../../util/objects.ts'
import { Cancelled, Declined } from '../input/elicit.ts'
import type { NamedParams } from '../request.ts'
import { cacheHintsByMethod, type FullCacheHints, type ServerCache } from './cache-hints.ts'

/** The options of a result encoder. */
export interface ResultEncoderOptions {
  readonly info: Implementation
  readonly profile: Profile
  readonly revisions: readonly Revision[]
  readonly cache: ServerCache | undefined
  readonly onError: (error: unknown, message?: RpcRequest | RpcNotification) => void
}

/** Encodes results and errors for the protocol revision of the caller. */
export class ResultEncoder {
  readonly #options: ResultEncoderOptions
  readonly #cacheHints: ReadonlyMap<string, FullCacheHints>
  readonly #metas = new Map<Revision, NamedParams>()
  readonly #stateless: ReadonlyMap<unknown, Revision>

  constructor(options: ResultEncoderOptions) {
    this.#options = options
    this.#cacheHints = cacheHintsByMethod(options.cache)
    const stateless = revisionsOf('stateless', options.revisions)
    this.#stateless = new Map(stateless.map(revision => [revision.name, revision]))
  }

  /**
   * Adds the members that a stateless revision requires: `resultType`, cache hints and `_meta`. Returns
   * the result as it is where `revision` is undefined (a request of a session), where it is not an
   * object, and where it has been completed already.
   */
  complete(result: unknown, revision: Revision | undefined, method: string): unknown {
    if (revision === undefined || !isRecord(result)) return result
    const meta = this.#meta(revision)
    // After a middleware that has only looked at it: a copy would have to be encoded anew.
    const given = ownMember(result, '_meta')
    if (given === meta && result.resultType !== undefined) return result
    // Not `{ ...result, _meta }`: members that follow a spread cost Node 20 more than the rest of a call.
    const completed: Record<string, unknown> = { resultType: 'complete' }
    if (result.resultType === undefined)
      assignMembers(completed, this.#cacheHints.get(method) ?? {})
    assignMembers(completed, result)
    completed._meta = isRecord(given) ? { ...given, ...meta } : meta
    return completed
  }

  /**
   * Returns the error with the code that it has in a revision. An error that is not a protocol error is
   * reported to `onError` and replaced by "Internal error". The error of a notification is returned as
   * it is: no response is sent, and the peer that runs the notification reports it.
   */
  failure(
    error: unknown,
    message: RpcRequest | RpcNotification,
    exchange: Exchange,
    revision: Revision | undefined,
  ): unknown {
    if (message.type === 'notification') return error
    const { onError, profile } = this.#options
    const known = error instanceof RpcError ? error : refusalOf(error)
    // A handler that stops because its request was cancelled has nothing to report.
    if (known === undefined && !exchange.signal.aborted) onError(error, parsedMessage(message))
    const wire = toWire(known ?? errors.internalError(), { profile, revision })
    return new RpcError(wire.code, wire.message, { data: wire.data })
  }

  /**
   * The stateless revision that the `_meta` of a message names, if this server serves it. Checks nothing
   * else of the message: for requests that were not dispatched, because a middleware answered them or
   * their caller is invalid.
   */
  namedRevision(message: RpcRequest | RpcNotification): Revision | undefined {
    const meta = ownMember(rawParams(message), '_meta')
    return this.#stateless.get(ownMember(meta, metaKeys.protocolVersion))
  }

  /** The `_meta` with the identity of the server, created once for each revision: every result has it. */
  #meta(revision: Revision): NamedParams {
    let meta = this.#metas.get(revision)
    if (meta === undefined) {
      const info = implementationFor(revision, this.#options.info)
      // Frozen, because results carry it by reference; a copy, because `info` is the caller's object.
      meta = cacheJson(frozenCopy<NamedParams>({ [metaKeys.serverInfo]: info }))
      this.#metas.set(revision, meta)
    }
    return meta
  }
}

/**
 * The protocol error for a user's refusal, which is not a failure; undefined for errors that must not
 * leave the server.
 */
function refusalOf(error: unknown): RpcError | undefined {
  if (error instanceof Cancelled) return errors.elicitationCancelled()
  const isDeclined = error instanceof Declined
  return isDeclined ? errors.elicitationFailed({ reason: error.message }) : undefined
}
