import { limits } from '../../../util/limits/limits.ts'
import { isRecord } from '../../../util/objects.ts'
import { errorMessage } from '../../../util/text/error-message.ts'
import { backoffMs } from '../../../util/time/backoff.ts'
import { serverMetadataUrls } from '../../documents/server-metadata.ts'
import { loadJose } from '../../jose.ts'
import type { Network } from '../../network/network.ts'
import { parseObject } from '../../strict-json.ts'
import { VerifierUnavailable } from '../verifier.ts'

/** What a key set needs. */
export interface KeySetOptions {
  readonly issuer: string
  /** The URL of the keys, the keys, or undefined to find the URL in the metadata of the issuer. */
  readonly jwks: string | { readonly keys: readonly object[] } | undefined
  readonly network: Network
  readonly now: () => number
  /** Called with the `FoundKey.id` of a key that is no longer in the set. */
  readonly onWithdrawn: (keyId: string) => void
}

type ImportedKey = Awaited<ReturnType<Awaited<ReturnType<typeof loadJose>>['importJWK']>>

/** A key that a token may be signed with. */
export interface FoundKey {
  readonly key: ImportedKey
  /** Identifies the key, also one that has no `kid`, or that of another key. */
  readonly id: string | undefined
}

interface PublicKey {
  readonly id: string | undefined
  readonly type: string
  readonly algorithm: string | undefined
  readonly jwk: object
  /** The whole key as text: an issuer may replace a key under the same `kid`. */
  readonly text: string
  imported?: Map<string, Promise<ImportedKey>>
}

/**
 * The keys of an issuer: fetched when they are needed, again in the background before they are old, and at
 * once for a token with an unknown key. While the issuer cannot be reached, the last keys are used.
 */
export class KeySet {
  readonly #options: KeySetOptions
  #keys: readonly PublicKey[] = []
  /** When the keys were fetched, in milliseconds since 1970; 0 for never. */
  #fetchedAt = 0
  /** How long the issuer lets them be used. */
  #maxAgeMs: number = limits.keySetMs.default
  #triedAt = 0
  #failures = 0
  #url: string | undefined
  #fetching: Promise<void> | undefined
  #isClosed = false

  constructor(options: KeySetOptions) {
    this.#options = options
    const { jwks } = options
    if (typeof jwks === 'string') this.#url = jwks
    else if (jwks !== undefined) {
      this.#keys = publicKeys(jwks)
      this.#fetchedAt = Number.POSITIVE_INFINITY
    }
  }

  close(): void {
    this.#isClosed = true
  }

  /** Returns the keys that may have signed a token with this header. Throws where no keys are known. */
  async find(header: Readonly<Record<string, unknown>>): Promise<readonly FoundKey[]> {
    if (this.#fetchedAt === 0) await this.#refresh(true)
    else if (this.#isOld()) void this.#refresh(false).catch(() => {})
    this.#checkAge()
    let found = this.#matching(header)
    if (found.length === 0 && this.#mayRefetch()) {
      await this.#refresh(false).catch(() => {})
      found = this.#matching(header)
    }
    const alg = String(header.alg)
    const imported = await Promise.allSettled(found.map(key => importKey(key, alg)))
    // A key that cannot be imported, or not for this algorithm, has signed nothing.
    return imported.flatMap((one, at) =>
      one.status === 'fulfilled' ? [{ key: one.value, id: found[at]?.text }] : [],
    )
  }

  #matching({ kid, alg }: Readonly<Record<string, unknown>>): readonly PublicKey[] {
    return this.#keys.filter(
      ({ id, type, algorithm }) =>
        (kid === undefined || id === kid) &&
        (algorithm === undefined || algorithm === alg) &&
        type === keyTypeOf(String(alg)),
    )
  }

  #isOld(): boolean {
    const { now } = this.#options
    return now() >= this.#fetchedAt + this.#maxAgeMs / 2 && now() >= this.#nextTry()
  }

  /** When the next fetch may begin after failures. */
  #nextTry(): number {
    if (this.#failures === 0) return 0
    return (
      this.#triedAt +
      backoffMs(this.#failures - 1, { baseMs: 1000, maxMs: 60_000, random: () => 1 })
    )
  }

  #mayRefetch(): boolean {
    if (this.#url === undefined && this.#options.jwks !== undefined) return false
    const next = Math.max(this.#triedAt + limits.keySetCooldownMs.default, this.#nextTry())
    return this.#options.now() >= next
  }

  #checkAge(): void {
    const { now, issuer } = this.#options
    if (now() - this.#fetchedAt <= this.#maxAgeMs + limits.keySetStaleMs.default) return
    throw new VerifierUnavailable(`the keys of ${issuer} are too old`)
  }

  /** Fetches the keys, once for all that wait. */
  #refresh(isFirst: boolean): Promise<void> {
    const { now, issuer } = this.#options
    if (isFirst && now() < this.#nextTry()) {
      return Promise.reject(new VerifierUnavailable(`the keys of ${issuer} are not available`))
    }
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined
    })
    return this.#fetching
  }

  async #fetch(): Promise<void> {
    const { issuer, now } = this.#options
    this.#triedAt = now()
    try {
      this.#url ??= await this.#discover()
      const { text, headers } = await this.#get(this.#url)
      const keys = publicKeys(parseObject(text))
      if (keys.length === 0) throw new Error('the key set has no usable keys')
      if (this.#isClosed) return
      const before = this.#keys
      this.#keys = keys
      this.#fetchedAt = now()
      this.#maxAgeMs = maxAgeOf(headers.get('cache-control'))
      this.#failures = 0
      const left = new Set(keys.map(({ text }) => text))
      for (const { text: withdrawn } of before)
        if (!left.has(withdrawn)) this.#options.onWithdrawn(withdrawn)
    } catch (cause) {
      this.#failures++
      throw new VerifierUnavailable(
        `the keys of ${issuer} cannot be fetched: ${errorMessage(cause)}`,
        { cause },
      )
    }
  }

  /** Finds the URL of the keys in the metadata of the issuer (RFC 8414, then OpenID Connect). */
  async #discover(): Promise<string> {
    const { issuer } = this.#options
    let last: unknown
    for (const { href: url } of serverMetadataUrls(issuer)) {
      try {
        const { text } = await this.#get(url)
        const document = parseObject(text)
        if (document?.issuer !== issuer)
          throw new Error(`the metadata at ${url} names another issuer`)
        const { jwks_uri } = document
        if (typeof jwks_uri !== 'string' || !isSecure(jwks_uri, issuer))
          throw new Error('the metadata has no secure jwks_uri')
        return jwks_uri
      } catch (error) {
        last = error
      }
    }
    throw last
  }

  async #get(url: string) {
    const { network } = this.#options
    const response = await network(url, { maxBytes: limits.keySetBytes.default, timeoutMs: 5000 })
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}`)
    return response
  }
}

/** Whether a URL is https, or as insecure as its issuer, which the operator has chosen. */
function isSecure(url: string, issuer: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && new URL(issuer).protocol === 'http:')
}

/** The public keys of a key set that can verify signatures. Others are ignored. */
function publicKeys(set: unknown): readonly PublicKey[] {
  const listed = isRecord(set) && Array.isArray(set.keys) ? set.keys : []
  const keys: PublicKey[] = []
  for (const jwk of listed.slice(0, limits.keySetKeys.default)) {
    if (!isRecord(jwk)) continue
    const { kty, use, kid, alg, d, k, n } = jwk
    const isPublic = d === undefined && k === undefined && typeof kty === 'string' && kty !== 'oct'
    if (!isPublic || (use !== undefined && use !== 'sig')) continue
    // 2048 bits are 342 characters of base64url.
    if (kty === 'RSA' && (typeof n !== 'string' || n.length < 342)) continue
    keys.push({
      id: typeof kid === 'string' ? kid : undefined,
      type: kty,
      algorithm: typeof alg === 'string' ? alg : undefined,
      jwk,
      text: JSON.stringify(jwk),
    })
  }
  return keys
}

function keyTypeOf(alg: string): string {
  if (alg.startsWith('RS') || alg.startsWith('PS')) return 'RSA'
  return alg.startsWith('ES') ? 'EC' : 'OKP'
}

function importKey(key: PublicKey, alg: string): Promise<ImportedKey> {
  key.imported ??= new Map()
  let imported = key.imported.get(alg)
  if (imported === undefined) {
    imported = loadJose().then(({ importJWK }) => importJWK(key.jwk, alg))
    key.imported.set(alg, imported)
  }
  return imported
}

/** How long a response may be used, between a minute and a day. */
function maxAgeOf(cacheControl: string | null): number {
  const seconds = /(?:^|[\s,])max-age=(\d+)/.exec(cacheControl ?? '')?.[1]
  if (seconds === undefined) return limits.keySetMs.default
  return Math.min(Math.max(Number(seconds) * 1000, 60_000), 86_400_000)
}
