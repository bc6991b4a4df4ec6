import { toBase64Url } from '../../../util/crypto/base64url.ts'
import { limits } from '../../../util/limits/limits.ts'
import { isRecord } from '../../../util/objects.ts'
import { checkOptions, type OptionTableOf } from '../../../util/options.ts'
import { InvalidToken, type Verifier } from '../verifier.ts'

/** One API key, without its secret. */
export interface ApiKeyRecord {
  /** The part of the key that finds its record. */
  readonly id: string
  /** The name of its owner, which becomes the id of the principal: `key:NAME`. */
  readonly name: string
  /** The SHA-256 digest of the secret, in lower-case hexadecimal. */
  readonly sha256: string
  /** The scopes of the principal. */
  readonly scopes?: readonly string[]
  /** The roles of the principal. */
  readonly roles?: readonly string[]
  /** When the key expires, as an ISO 8601 time. */
  readonly expires?: string
  /** Whether the key is rejected. */
  readonly disabled?: boolean
}

/** The options of `apiKeys`. */
export interface ApiKeysOptions {
  /** The keys, or what returns them; `keyFile` of `trunkline/auth` reads a file and notices its changes. */
  readonly keys: readonly ApiKeyRecord[] | ApiKeySource
  /** A header that carries the key, besides `Authorization: Bearer`, such as `x-api-key`. */
  readonly header?: string
  /** The time in milliseconds since 1970; for tests. */
  readonly now?: () => number
}

/** Keys that may change. */
export interface ApiKeySource {
  /** Returns the current keys. */
  current(): readonly ApiKeyRecord[]
  /** Called when the keys have changed. */
  onChange?: (() => void) | undefined
  /** Stops watching for changes. */
  close?(): void
}

const table: OptionTableOf<ApiKeysOptions> = { keys: 'any', header: 'string', now: 'function' }

/** The form of an API key: a prefix that scanners for secrets can find, an id, and 32 random bytes. */
const keyForm = /^tlk_([A-Za-z0-9]{8})_([A-Za-z0-9_-]{43})$/

/**
 * Authenticates callers by API keys of the form `tlk_…`, of which only digests are stored. `newApiKey` makes
 * one. Clients get no hint of OAuth, because these keys are not issued by a server.
 */
export function apiKeys(options: ApiKeysOptions): Verifier {
  checkOptions(options, table)
  const { now = Date.now } = options
  const source = sourceOf(options.keys)
  let byId = index(source.current())
  const own: Verifier = {
    name: 'key',
    issuers: [],
    header: options.header?.toLowerCase(),
    dpop: false,
    recognizes: token => token.startsWith('tlk_'),
    verify: async token => {
      const [, id = '', secret = ''] = keyForm.exec(token) ?? []
      const record = byId.get(id)
      const digest = await sha256(secret)
      // An unknown key is compared too, so that the time tells nothing.
      const isRight = sameText(digest, record?.sha256 ?? dummy) && record !== undefined
      if (!isRight || record.disabled === true) throw new InvalidToken('the key is unknown')
      const expiresAt = record.expires === undefined ? undefined : Date.parse(record.expires)
      if (expiresAt !== undefined && expiresAt <= now()) {
        throw new InvalidToken('the key has expired', { isExpired: true })
      }
      const principal = Object.freeze({
        id: `key:${record.name}`,
        subject: record.name,
        scopes: Object.freeze([...(record.scopes ?? [])]),
        roles: Object.freeze([...(record.roles ?? [])]),
        expiresAt,
        key: id,
        verifier: 'key',
      })
      return { principal, until: expiresAt, keyId: id }
    },
    close: () => source.close?.(),
  }
  const others = source.onChange
  source.onChange = () => {
    others?.()
    const before = byId
    byId = index(source.current())
    // Every key that is gone or has changed is verified again.
    for (const [id, record] of before) {
      if (JSON.stringify(record) !== JSON.stringify(byId.get(id))) own.onKeyWithdrawn?.(id)
    }
  }
  return own
}

/** A new API key: the text for its owner, and the record to store. */
export interface NewApiKey {
  /** The key, which is shown once and stored nowhere. */
  readonly key: string
  /** What is stored of the key. */
  readonly record: ApiKeyRecord
}

/** Makes an API key. */
export async function newApiKey(
  name: string,
  about: Pick<ApiKeyRecord, 'scopes' | 'roles' | 'expires'> = {},
): Promise<NewApiKey> {
  const id = randomText(8, 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789')
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  const secret = toBase64Url(bytes)
  const record = { id, name, sha256: await sha256(secret), ...about }
  checkRecord(record)
  return { key: `tlk_${id}_${secret}`, record }
}

/** Throws a TypeError for an invalid record. */
export function checkRecord(value: unknown): asserts value is ApiKeyRecord {
  const refuse = (why: string): never => {
    const name = isRecord(value) && typeof value.name === 'string' ? ` "${value.name}"` : ''
    throw new TypeError(`API key${name}: ${why}`)
  }
  if (!isRecord(value)) return refuse('it must be an object')
  const { id, name, sha256, scopes, roles, expires, disabled } = value
  if (typeof name !== 'string' || !/^[\w.@-]{1,64}$/.test(name))
    refuse('its name must have 1 to 64 letters, digits, "_", "-", "." and "@"')
  if (typeof id !== 'string' || !/^[A-Za-z0-9]{8}$/.test(id))
    refuse('its id must have 8 letters and digits')
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256))
    refuse('"sha256" must be 64 hexadecimal digits')
  for (const list of [scopes, roles]) {
    if (
      list !== undefined &&
      !(Array.isArray(list) && list.every(one => typeof one === 'string'))
    ) {
      refuse('"scopes" and "roles" must be arrays of strings')
    }
  }
  if (expires !== undefined && (typeof expires !== 'string' || Number.isNaN(Date.parse(expires)))) {
    refuse('"expires" must be a time in ISO 8601, such as that of new Date().toISOString()')
  }
  if (disabled !== undefined && typeof disabled !== 'boolean')
    refuse('"disabled" must be true or false')
}

function sourceOf(keys: ApiKeysOptions['keys']): ApiKeySource {
  if (isRecord(keys) && typeof (keys as { current?: unknown }).current === 'function')
    return keys as ApiKeySource
  if (Array.isArray(keys)) return { current: () => keys }
  throw new TypeError('apiKeys() needs { keys }: records, or a file by keyFile(path)')
}

function index(records: readonly ApiKeyRecord[]): ReadonlyMap<string, ApiKeyRecord> {
  if (records.length > limits.apiKeys.default) {
    throw new TypeError(`there are more than ${limits.apiKeys.default} API keys`)
  }
  const byId = new Map<string, ApiKeyRecord>()
  const names = new Set<string>()
  for (const record of records) {
    checkRecord(record)
    if (byId.has(record.id)) throw new TypeError(`two API keys have the id "${record.id}"`)
    if (names.has(record.name)) throw new TypeError(`two API keys have the name "${record.name}"`)
    names.add(record.name)
    byId.set(record.id, record)
  }
  return byId
}

const dummy = '0'.repeat(64)

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), byte => byte.toString(16).padStart(2, '0')).join('')
}

/** Compares two digests in constant time. */
function sameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at % b.length)
  return difference === 0
}

function randomText(length: number, alphabet: string): string {
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // Only bytes below a multiple of the length of the alphabet, so that all characters are equally likely.
      if (byte < 248 && text.length < length) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}
