import type { Envelope, Principal } from '../../../jsonrpc/channel.ts'
import type { HttpReply, HttpRequest } from '../../exchange.ts'
import type { Accepts } from '../accept.ts'

/** A POST of a session. */
export interface SessionPost {
  readonly request: HttpRequest
  readonly reply: HttpReply
  readonly accepts: Accepts
  /** The length of the message as text. */
  readonly bytes?: number | undefined
}

/**
 * The envelope of a message. Its headers are read on demand: not every binding has them at hand, and
 * few tools need them.
 */
export class PostEnvelope implements Envelope {
  readonly acceptsRaw = true
  readonly about: number | undefined
  readonly #request: HttpRequest

  constructor(request: HttpRequest, about: number | undefined) {
    this.#request = request
    this.about = about
  }

  get principal(): Principal | undefined {
    return this.#request.principal
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#request.headers
  }

  get env(): unknown {
    return this.#request.env
  }

  address(includesLocal: boolean): string | undefined {
    return this.#request.address(includesLocal)
  }
}
