import { limits } from '../../../util/limits/limits.ts'
import type { ServerMetadata } from '../../documents/server-metadata.ts'
import type { GuardedNetwork } from '../../network/guarded-network.ts'
import { metadataOf } from '../machine/enterprise.ts'
import { findServerMetadata } from '../protocol/discovery.ts'

/** An authorization server that the options name, by its issuer or by its token endpoint. */
export interface ServerName {
  readonly issuer: string | undefined
  readonly tokenEndpoint: string | undefined
}

/** An authorization server whose metadata all callers share. They are read again after `discoveryMs`. */
export class KnownServer {
  readonly #name: ServerName
  #metadata: Promise<ServerMetadata> | undefined
  #until = 0

  constructor(name: ServerName) {
    this.#name = name
  }

  /** Returns the metadata. Rejects with an AuthError if they cannot be read; the next call tries again. */
  metadata(network: GuardedNetwork): Promise<ServerMetadata> {
    const { issuer = '', tokenEndpoint } = this.#name
    if (tokenEndpoint !== undefined)
      return Promise.resolve(metadataOf(issuer || tokenEndpoint, tokenEndpoint))
    if (this.#metadata !== undefined && Date.now() < this.#until) return this.#metadata
    const reading = findServerMetadata(issuer, { network, isStrict: false, signal: undefined })
    this.#metadata = reading
    this.#until = Date.now() + limits.discoveryMs.default
    reading.catch(() => {
      if (this.#metadata === reading) this.#metadata = undefined
    })
    return reading
  }
}
