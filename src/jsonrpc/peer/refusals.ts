import { RpcError, standardKind } from '../error.ts'
import type { ErrorObject, Id, RpcFailure } from '../message.ts'
import type { PeerOptions } from './options.ts'

/** The errors that a peer responds with itself, in the form that its options ask for. */
export class Refusals {
  readonly #toWire: PeerOptions['toWire']
  readonly #omitsNullIds: NonNullable<PeerOptions['omitsNullIds']>

  constructor({ toWire, omitsNullIds = false }: PeerOptions) {
    this.#toWire = toWire
    this.#omitsNullIds = omitsNullIds
  }

  /** Returns an error as it is sent: a profile that adds the kind to every error adds it to these, too. */
  error(error: ErrorObject): ErrorObject {
    if (this.#toWire === undefined) return error
    const kind = standardKind(error.code)
    return this.#toWire(new RpcError(error.code, error.message, { data: error.data, kind }))
  }

  /** Returns the error response to a message; `id` is null if it has no readable id. */
  response(id: Id | null, error: ErrorObject): RpcFailure {
    const failure: RpcFailure = { type: 'error', id, error: this.error(error) }
    if (id !== null) return failure
    const omitsNullIds = this.#omitsNullIds
    const omitsId = typeof omitsNullIds === 'function' ? omitsNullIds() : omitsNullIds
    return omitsId ? { ...failure, omitsId } : failure
  }
}
