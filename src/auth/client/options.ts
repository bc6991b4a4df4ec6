import { limits } from '../../util/limits/limits.ts'
import { checkOptions, formatValue, type OptionTableOf } from '../../util/options.ts'
import type { NetworkOptions } from '../network/guarded-request.ts'
import { loopback } from './login/loopback.ts'
import { fixedRedirect, type Redirect } from './login/redirect.ts'
import type { OAuthClient, PrivateKey } from './protocol/client-authentication.ts'
import { memoryStore } from './store/memory-store.ts'
import type { TokenStore } from './store/token-store.ts'

/**
 * Shows a user the page on which to log in. May resolve to the address to which the browser was redirected, if it
 * learns that, instead of waiting for the redirect.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: most functions that show a page return nothing
export type OpenPage = (url: URL, signal: AbortSignal) => void | URL | Promise<void | URL>

/** Options of `oauth`. All are optional. */
export interface OAuthOptions {
  /** The id of this client, if it was registered by hand. No registration is tried then. */
  readonly clientId?: string
  /** The secret of a client that was registered by hand. */
  readonly clientSecret?: string
  /** The private key of a client that was registered by hand, instead of a secret: PEM text, a JWK or a CryptoKey. */
  readonly privateKey?: PrivateKey
  /** The algorithm of the private key; that of the JWK, or ES256 by default. */
  readonly algorithm?: string
  /** The only authorization server to use. Set it with `clientSecret`, so that no other ever gets the secret. */
  readonly issuer?: string
  /** The https URL of a document that describes this client, which serves as its id. */
  readonly clientMetadataUrl?: string
  /** The name that users see when they log in; `trunkline` by default. */
  readonly clientName?: string
  /** Whether the client is a program of the user or a website; `native` by default. */
  readonly applicationType?: 'native' | 'web'
  /** Scopes to ask for besides those that the server names. */
  readonly scopes?: readonly string[]
  /** The only scopes to ask for, whatever the server names. */
  readonly scopesAllowed?: readonly string[]
  /** Whether to ask for a refresh token with the scope `offline_access`, where it exists; true by default. */
  readonly offline?: boolean
  /** What to send as `resource` instead of what the server names; false sends none. */
  readonly resource?: string | false
  /** Where tokens are kept; in memory by default. */
  readonly store?: TokenStore
  /** Where the browser returns to: `loopback()`, or an address that `open` handles. Without it nobody is asked to log in. */
  readonly redirect?: Redirect | string
  /** Shows the user the page to log in; opens the browser by default. */
  readonly open?: OpenPage
  /** Whether tokens are bound to a key (DPoP): `auto` if the server requires it, which is the default. */
  readonly dpop?: 'auto' | 'always' | 'never'
  /** Whether a request for more scopes asks the user again, which is the default, or fails. */
  readonly stepUp?: 'ask' | 'fail'
  /** Whether to accept no deviation from the current specification, such as servers without metadata. */
  readonly strict?: boolean
  /** How long a user may take to log in, in milliseconds. */
  readonly loginMs?: number
  /** How requests for authorization are sent. */
  readonly network?: NetworkOptions
}

/** Table of `NetworkOptions`, for `checkOptions`. */
export const networkTable: OptionTableOf<NetworkOptions> = {
  reach: ['public', 'private', 'loopback'],
  lookup: 'function',
  fetch: 'function',
  ca: 'string',
}

/** Table of `OAuthOptions`, for `checkOptions`. */
export const oauthTable: OptionTableOf<OAuthOptions> = {
  clientId: 'string',
  clientSecret: 'string',
  // A string or an object.
  privateKey: 'any',
  algorithm: 'string',
  issuer: 'string',
  clientMetadataUrl: 'string',
  clientName: 'string',
  applicationType: ['native', 'web'],
  scopes: 'strings',
  scopesAllowed: 'strings',
  offline: 'boolean',
  // A string or false.
  resource: 'any',
  store: 'object',
  // A string or an object.
  redirect: 'any',
  open: 'function',
  dpop: ['auto', 'always', 'never'],
  stepUp: ['ask', 'fail'],
  strict: 'boolean',
  loginMs: 'ms',
  network: networkTable,
}

/** OAuthOptions with all defaults filled in. */
export interface OAuthSettings
  extends Pick<
    OAuthOptions,
    'issuer' | 'clientMetadataUrl' | 'scopesAllowed' | 'resource' | 'open'
  > {
  /** The client that was registered by hand. */
  readonly client: OAuthClient | undefined
  readonly clientName: string
  readonly applicationType: 'native' | 'web'
  readonly scopes: readonly string[]
  readonly offline: boolean
  readonly store: TokenStore
  readonly redirect: Redirect | undefined
  readonly dpop: 'auto' | 'always' | 'never'
  readonly stepUp: 'ask' | 'fail'
  readonly isStrict: boolean
  readonly loginMs: number
  readonly network: NetworkOptions
}

/** Fills in the defaults. Throws a TypeError for invalid options. */
export function oauthSettings(options: OAuthOptions): OAuthSettings {
  checkOptions(options, oauthTable)
  const { clientId, clientSecret, privateKey, algorithm, resource, clientMetadataUrl } = options
  if (clientId === undefined && (clientSecret !== undefined || privateKey !== undefined))
    throw new TypeError('options "clientSecret" and "privateKey" require "clientId"')
  if (resource !== undefined && resource !== false && !isAbsolute(resource))
    throw new TypeError(`option "resource" must be a URL or false (got ${formatValue(resource)})`)
  checkAddress('issuer', options.issuer)
  if (clientMetadataUrl !== undefined && !/^https:\/\/[^/]+\/./.test(clientMetadataUrl))
    throw new TypeError(
      `option "clientMetadataUrl" must be an https: URL with a path (got ${formatValue(clientMetadataUrl)})`,
    )
  return {
    client: clientId === undefined ? undefined : { clientId, clientSecret, privateKey, algorithm },
    issuer: options.issuer,
    clientMetadataUrl,
    clientName: options.clientName ?? 'trunkline',
    applicationType: options.applicationType ?? 'native',
    scopes: options.scopes ?? [],
    scopesAllowed: options.scopesAllowed,
    offline: options.offline ?? true,
    resource,
    store: options.store ?? memoryStore(),
    redirect: redirectOf(options),
    open: options.open,
    dpop: options.dpop ?? 'auto',
    stepUp: options.stepUp ?? 'ask',
    isStrict: options.strict ?? false,
    loginMs: options.loginMs ?? limits.loginMs.default,
    network: options.network ?? {},
  }
}

/** Throws a TypeError for an option that is given and is not a URL. */
export function checkAddress(name: string, value: string | undefined): void {
  if (value === undefined || isAbsolute(value)) return
  throw new TypeError(`option "${name}" must be a URL (got ${formatValue(value)})`)
}

function redirectOf({ redirect, open }: OAuthOptions): Redirect | undefined {
  if (redirect === undefined) return open === undefined ? undefined : loopback()
  if (typeof redirect !== 'string') return redirect
  checkAddress('redirect', redirect)
  if (open === undefined)
    throw new TypeError('option "redirect" as an address requires "open"; or use loopback()')
  return fixedRedirect(redirect)
}

function isAbsolute(value: unknown): value is string {
  return typeof value === 'string' && /^https?:/i.test(value) && URL.canParse(value)
}
