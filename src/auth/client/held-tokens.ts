import type { AuthHeaders } from '../../mcp/authenticator.ts'
import type { AuthorizedRequest } from '../../mcp/credentials.ts'
import { limits } from '../../util/limits/limits.ts'
import { DpopKey, type ReceivedNonces } from './protocol/dpop.ts'
import type { FoundRecord, TokenRecord } from './store/records.ts'

/** The headers of a request without credentials. */
export const noCredentials: AuthHeaders = Object.freeze({})

/** Tokens in use, with what requests need of them. */
export class HeldTokens {
  readonly record: TokenRecord
  /** The text of the record in the store. */
  readonly text: string
  /** The value of the header `authorization`, by which a refused token is recognized. */
  readonly authorization: string
  /** Identifies the authorization that has issued the tokens. */
  readonly identity: string
  readonly #nonces: ReceivedNonces
  readonly #headers: AuthHeaders
  readonly #renewAt: number
  #key: Promise<DpopKey> | undefined

  /** `isRenewable` says whether other tokens can be had without a user. */
  constructor(
    { record, text }: FoundRecord<TokenRecord>,
    nonces: ReceivedNonces,
    isRenewable = record.refreshToken !== undefined,
  ) {
    this.record = record
    this.text = text
    this.authorization = `${record.tokenType} ${record.accessToken}`
    this.identity = `${record.issuer} ${record.resource} ${record.clientId} ${record.grant}`
    this.#nonces = nonces
    this.#headers = Object.freeze({ authorization: this.authorization })
    this.#renewAt = renewAtOf(record, isRenewable)
  }

  /** Whether the access token is still good by the clock of this machine. */
  get isGood(): boolean {
    return isGood(this.record)
  }

  /** Whether it is time to renew the tokens, or too late for that. */
  get isDue(): boolean {
    return Date.now() >= this.#renewAt
  }

  /** Returns the headers of a request; a promise only if a proof has to be signed. */
  headers(request: AuthorizedRequest): AuthHeaders | Promise<AuthHeaders> {
    return this.record.tokenType === 'Bearer' ? this.#headers : this.#withProof(request)
  }

  async #withProof({ method, url }: AuthorizedRequest): Promise<AuthHeaders> {
    const { accessToken, key } = this.record
    this.#key ??= DpopKey.from(key ?? {}, this.#nonces)
    const proof = await (await this.#key).proof({ method, url, accessToken })
    return { authorization: this.authorization, dpop: proof }
  }
}

/** Whether an access token is still good by the clock of this machine. */
export function isGood({ expiresAt }: Pick<TokenRecord, 'expiresAt'>): boolean {
  return expiresAt === undefined || Date.now() < expiresAt
}

/** Returns when to renew tokens: ahead of their expiry if that is possible, and never if they do not expire. */
function renewAtOf({ issuedAt, expiresAt }: TokenRecord, isRenewable: boolean): number {
  if (expiresAt === undefined) return Number.POSITIVE_INFINITY
  const aheadMs = Math.min(limits.refreshAheadMs.default, (expiresAt - issuedAt) / 10)
  return isRenewable ? expiresAt - aheadMs : expiresAt
}
