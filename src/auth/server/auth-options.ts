import type { Principal } from '../../jsonrpc/channel.ts'
import { checkOptions, formatValue, type OptionTableOf } from '../../util/options.ts'
import { checkScopes } from './challenge.ts'
import type { ReplayCache } from './dpop/replay-cache.ts'
import type { Verifier } from './verifier.ts'
import type { CertificateVerifier } from './verifiers/certificate.ts'

/** Who may call a server, and how callers prove who they are. */
export interface AuthOptions {
  /**
   * The URL under which callers know the server, such as `https://tools.example.com/mcp`. It is published
   * as it is, and tokens must be issued for it. By default the address of a listener on this machine.
   */
  readonly resource?: string
  /** How tokens are verified: `jwt(…)`, `introspection(…)`, `apiKeys(…)`, `verifier(…)`, or several. */
  readonly verify?: Verifier | readonly Verifier[]
  /** Accepts client certificates: `certificate(…)`. */
  readonly certificates?: CertificateVerifier
  /** The audiences that tokens may be issued for; the resource by default. */
  readonly audience?: string | readonly string[]
  /** The scopes that every message needs. */
  readonly scopes?: readonly string[]
  /** The scopes that a method needs besides, by its name. */
  readonly methods?: Readonly<Record<string, readonly string[]>>
  /** The scopes that the metadata list; by default those of `scopes` and `methods`. */
  readonly scopesSupported?: readonly string[]
  /** The scopes that a scope includes: `{ 'notes:write': ['notes:read'] }`. */
  readonly implies?: Readonly<Record<string, readonly string[]>>
  /** The issuers at which clients get tokens; by default those of the verifiers. */
  readonly authorizationServers?: readonly string[]
  /** The methods that callers without a token may use, such as `server/discover` and `tools/list`. */
  readonly anonymous?:
    | false
    | {
        /** The names of the methods. */
        readonly methods: readonly string[]
      }
  /** Whether tokens that are bound to a key are accepted (DPoP), required, or treated as unknown. */
  readonly dpop?: 'accept' | 'require' | false
  /** Whether DPoP proofs need a nonce of this server. */
  readonly dpopNonce?: boolean
  /** Remembers DPoP proofs; in the memory of the process by default. */
  readonly replays?: ReplayCache
  /** Whether event streams and WebSockets end when the token of their caller expires. */
  readonly streams?: 'until-expiry' | 'until-closed'
  /** The principal of every caller, instead of `verify`: for stdio and Unix sockets. */
  readonly principal?: Principal
  /** What the metadata say of the server to people. */
  readonly metadata?: {
    /** The name of the server. */
    readonly name?: string
    /** The URL of its documentation. */
    readonly documentation?: string
  }
  /** Called with every decision about a request, for logs and audits. It gets no token. */
  readonly onDecision?: (decision: AuthDecision) => void
  /** The time in milliseconds since 1970; for tests. */
  readonly now?: () => number
}

/** A decision about a request. */
export interface AuthDecision {
  /** Whether the request was admitted, without a caller or with one, or refused. */
  readonly outcome: 'admitted' | 'anonymous' | 'refused'
  /** The status of a refusal. */
  readonly status?: number
  /** Why, for operators. Never sent to the caller. */
  readonly reason?: string
  /** The id of the principal. */
  readonly principal?: string
  /** The name of the verifier. */
  readonly verifier?: string
}

const table: OptionTableOf<AuthOptions> = {
  resource: 'string',
  verify: 'any',
  certificates: 'object',
  audience: 'any',
  scopes: 'strings',
  methods: { '*': 'strings' },
  scopesSupported: 'strings',
  implies: { '*': 'strings' },
  authorizationServers: 'strings',
  anonymous: 'any',
  dpop: 'any',
  dpopNonce: 'boolean',
  replays: 'object',
  streams: ['until-expiry', 'until-closed'],
  principal: 'object',
  metadata: { name: 'string', documentation: 'string' },
  onDecision: 'function',
  now: 'function',
}

/** Throws a TypeError for options that mean nothing, or contradict each other. */
export function checkAuthOptions(options: AuthOptions): void {
  checkOptions(options, table, 'auth: ')
  const { resource, verify, principal, certificates, anonymous, dpop, methods } = options
  if (resource !== undefined) checkResource(resource)
  if (principal !== undefined && verify !== undefined) {
    throw new TypeError('auth: "principal" and "verify" cannot be combined')
  }
  if (verify === undefined && principal === undefined && certificates === undefined) {
    throw new TypeError('auth: "verify" is missing, such as { verify: jwt({ issuer }) }')
  }
  if (principal !== undefined && (typeof principal.id !== 'string' || principal.id === '')) {
    throw new TypeError('auth: the principal needs an "id"')
  }
  for (const one of verifiersOf(options)) {
    if (typeof one?.verify !== 'function') {
      throw new TypeError(
        `auth: "verify" must be a verifier such as jwt({ issuer }) (got ${formatValue(one)})`,
      )
    }
  }
  if (dpop !== undefined && dpop !== false && dpop !== 'accept' && dpop !== 'require') {
    throw new TypeError(
      `auth: "dpop" must be "accept", "require" or false (got ${formatValue(dpop)})`,
    )
  }
  if (anonymous !== undefined && anonymous !== false && !Array.isArray(anonymous.methods)) {
    throw new TypeError('auth: "anonymous" must be false or { methods: […] }')
  }
  checkScopes('scopes', options.scopes)
  checkScopes('scopesSupported', options.scopesSupported)
  for (const [method, scopes] of Object.entries(methods ?? {}))
    checkScopes(`methods.${method}`, scopes)
  for (const scope of [...(options.scopes ?? []), ...(options.scopesSupported ?? [])]) {
    if (scope === 'offline_access') {
      throw new TypeError(
        'auth: "offline_access" is between client and authorization server; leave it out',
      )
    }
  }
}

/** Returns the verifiers of the options, in their order. */
export function verifiersOf({ verify }: AuthOptions): readonly Verifier[] {
  if (verify === undefined) return []
  return Array.isArray(verify) ? verify : [verify as Verifier]
}

/** Throws a TypeError for a URL that cannot identify a protected resource. */
export function checkResource(resource: string): void {
  const url = URL.canParse(resource) ? new URL(resource) : undefined
  const isLocal = url !== undefined && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname)
  const isRight =
    url !== undefined &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)) &&
    !resource.includes('#') &&
    url.username === ''
  if (!isRight) {
    throw new TypeError(
      `auth: "resource" must be an https: URL without a fragment, such as "https://tools.example.com/mcp" (got ${formatValue(resource)})`,
    )
  }
}
