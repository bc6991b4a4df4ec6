import { isRecord, stringsIn } from '../../../util/objects.ts'
import type { JWK } from '../../jose.ts'
import type { TokenStore } from './token-store.ts'

/** The tokens that one authorization has issued, and what is needed to renew them. */
export interface TokenRecord {
  /** The issuer of the authorization server. Nothing of this is sent to any other. */
  readonly issuer: string
  /** The resource that the tokens are for; the address of the server if its metadata name none. */
  readonly resource: string
  readonly clientId: string
  /** What requests for tokens send as `resource`; undefined if they send none. */
  readonly audience?: string
  /** Identifies the authorization: every login has another one, and a renewal keeps it. */
  readonly grant: string
  readonly accessToken: string
  readonly tokenType: 'Bearer' | 'DPoP'
  /** When the token was issued and when it expires, in milliseconds since 1970. */
  readonly issuedAt: number
  readonly expiresAt?: number
  readonly refreshToken?: string
  /** The scopes that were granted. */
  readonly scopes: readonly string[]
  /** The private key that the tokens are bound to (DPoP). */
  readonly key?: JWK
  /** Whether the authorization server has no metadata, so that its endpoints have the default paths. */
  readonly hasDefaultEndpoints?: boolean
}

/** The login that is used for a server. */
export interface LoginRecord {
  readonly issuer: string
  readonly resource: string
  readonly clientId: string
}

/** A client that was registered dynamically with an authorization server. */
export interface RegistrationRecord {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: string
  /** When the secret expires, in milliseconds since 1970. */
  readonly secretExpiresAt?: number
  /** How the client authenticates at the token endpoint. */
  readonly authMethod?: string
  readonly redirectUris: readonly string[]
}

/** Returns the keys under which records are stored. */
export const recordKeys = {
  tokens: ({ issuer, resource, clientId }: LoginRecord): string =>
    `tokens ${issuer} ${resource} ${clientId}`,
  /** What the keys of all tokens of an issuer begin with. */
  tokensOf: (issuer: string): string => `tokens ${issuer} `,
  login: (server: string): string => `login ${server}`,
  registration: (issuer: string): string => `registration ${issuer}`,
} as const

/** A record as it was read, with its text, by which it can be removed if nobody has replaced it. */
export interface FoundRecord<T> {
  readonly record: T
  readonly text: string
}

/** Reads the tokens of a login; undefined if there are none, or if they belong to another issuer. */
export async function readTokens(
  store: TokenStore,
  login: LoginRecord,
): Promise<FoundRecord<TokenRecord> | undefined> {
  const text = await store.get(recordKeys.tokens(login))
  const found = recordIn(text)
  if (text === undefined || found?.issuer !== login.issuer) return undefined
  const { accessToken, tokenType, grant, issuedAt } = found
  if (typeof accessToken !== 'string' || typeof grant !== 'string') return undefined
  if (tokenType !== 'Bearer' && tokenType !== 'DPoP') return undefined
  const record: TokenRecord = {
    ...login,
    grant,
    accessToken,
    tokenType,
    issuedAt: typeof issuedAt === 'number' ? issuedAt : 0,
    expiresAt: typeof found.expiresAt === 'number' ? found.expiresAt : undefined,
    audience: textIn(found.audience),
    refreshToken: textIn(found.refreshToken),
    scopes: stringsIn(found.scopes) ?? [],
    // The check: an object; its members are checked when the key is imported.
    key: isRecord(found.key) ? (found.key as JWK) : undefined,
    hasDefaultEndpoints: found.hasDefaultEndpoints === true,
  }
  return { record, text }
}

/** Stores tokens. Resolves to their text, by which they can be removed. */
export async function writeTokens(store: TokenStore, record: TokenRecord): Promise<string> {
  const text = textOf(record)
  await store.set(recordKeys.tokens(record), text)
  return text
}

/** Reads which login is used for a server. */
export async function readLogin(
  store: TokenStore,
  server: string,
): Promise<LoginRecord | undefined> {
  const found = recordIn(await store.get(recordKeys.login(server)))
  const { issuer, resource, clientId } = found ?? {}
  if (typeof issuer !== 'string' || typeof resource !== 'string') return undefined
  return typeof clientId === 'string' ? { issuer, resource, clientId } : undefined
}

/** Stores which login is used for a server. */
export function writeLogin(store: TokenStore, server: string, login: LoginRecord): Promise<void> {
  const { issuer, resource, clientId } = login
  return store.set(recordKeys.login(server), textOf({ issuer, resource, clientId }))
}

/** Reads the registration of this client with an issuer. */
export async function readRegistration(
  store: TokenStore,
  issuer: string,
): Promise<RegistrationRecord | undefined> {
  const found = recordIn(await store.get(recordKeys.registration(issuer)))
  if (found?.issuer !== issuer || typeof found.clientId !== 'string') return undefined
  const { secretExpiresAt } = found
  return {
    issuer,
    clientId: found.clientId,
    clientSecret: textIn(found.clientSecret),
    secretExpiresAt: typeof secretExpiresAt === 'number' ? secretExpiresAt : undefined,
    authMethod: textIn(found.authMethod),
    redirectUris: stringsIn(found.redirectUris) ?? [],
  }
}

/** Stores the registration of this client with an issuer. */
export function writeRegistration(store: TokenStore, record: RegistrationRecord): Promise<void> {
  return store.set(recordKeys.registration(record.issuer), textOf(record))
}

const FORMAT = 1

function textOf(record: object): string {
  return JSON.stringify({ v: FORMAT, ...record })
}

function recordIn(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) && value.v === FORMAT ? value : undefined
  } catch {
    return undefined
  }
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
