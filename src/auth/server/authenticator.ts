import type { Principal } from '../../jsonrpc/channel.ts'
import type {
  AccessEnd,
  Admission,
  Authentication,
  Authenticator,
  AuthRefusal,
  AuthRequest,
  PublicDocument,
} from '../../mcp/authenticator.ts'
import { toBase64Url } from '../../util/crypto/base64url.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import type { Clock } from '../../util/time/clock.ts'
import { rememberCallerToken } from '../caller-tokens.ts'
import { type AuthOptions, checkAuthOptions, checkResource, verifiersOf } from './auth-options.ts'
import { CheckQueue } from './check-queue.ts'
import { Decisions } from './decisions.ts'
import { DpopNonces } from './dpop/nonce.ts'
import { checkProof, proofAlgorithms } from './dpop/proof-check.ts'
import { MemoryReplayCache, type ReplayCache } from './dpop/replay-cache.ts'
import { FailedTokens } from './failed-tokens.ts'
import { type KnownCaller, OpenCallers } from './open-callers.ts'
import { GuardedResources, type PublishedResource } from './protected-resource.ts'
import { AuthRefusals } from './refusals.ts'
import { withImpliedScopes } from './scopes.ts'
import { hasQueryToken, type PresentedToken, readCredentials } from './token-header.ts'
import { VerifiedTokens } from './verified-tokens.ts'
import { InvalidToken, type TokenRequest, type VerifiedToken, type Verifier } from './verifier.ts'

/** An authenticator that an application makes itself, for its own HTTP server. */
export interface ResourceAuthenticator extends Authenticator {
  /**
   * Forgets what was verified for a principal, so that its next request is verified anew. Its event streams and
   * WebSockets end.
   */
  forget(principalId: string): void
  /** Releases what the verifiers hold, such as watched files. */
  close(): void
}

/**
 * Makes an authenticator: what `listen` makes of its option `auth`, for `nodeHandler` and `fetchHandler`.
 * Throws a TypeError for invalid options.
 */
export function authenticator(options: AuthOptions): ResourceAuthenticator {
  checkAuthOptions(options)
  return new TokenAuthenticator(options)
}

class TokenAuthenticator implements ResourceAuthenticator {
  readonly #options: AuthOptions
  readonly #verifiers: readonly Verifier[]
  readonly #now: () => number
  readonly #verified = new VerifiedTokens()
  readonly #failed: FailedTokens
  readonly #queue = new CheckQueue()
  readonly #replays: ReplayCache
  readonly #nonces: DpopNonces | undefined
  readonly #resources: GuardedResources
  readonly #refusals: AuthRefusals
  readonly #decisions: Decisions
  readonly #callers: OpenCallers
  readonly #principals = new WeakMap<Principal, Principal>()
  readonly #dpop: 'accept' | 'require' | false
  /** Outcomes that connections remember count only while this is the same object. */
  #epoch = {}
  readonly credentialHeaders: readonly string[]

  constructor(options: AuthOptions) {
    this.#options = options
    this.#verifiers = verifiersOf(options)
    this.#now = options.now ?? Date.now
    this.#failed = new FailedTokens(this.#now)
    this.#replays = options.replays ?? new MemoryReplayCache()
    const isBound = this.#verifiers.some(({ dpop }) => dpop)
    this.#dpop = options.dpop ?? (isBound ? 'accept' : false)
    this.#nonces = options.dpopNonce === true ? new DpopNonces(this.#now) : undefined
    this.#resources = new GuardedResources(this.#published())
    this.#refusals = new AuthRefusals(
      this.#resources,
      { dpop: this.#dpop, algorithms: proofAlgorithms },
      options.scopes,
    )
    this.#decisions = new Decisions(options.onDecision, this.#refusals)
    this.#callers = new OpenCallers(options.streams !== 'until-closed')
    this.credentialHeaders = this.#verifiers.flatMap(({ header }) => header ?? [])
    for (const one of this.#verifiers) {
      // Other listeners may use the same verifier.
      const before = one.onKeyWithdrawn
      one.onKeyWithdrawn = keyId => {
        before?.(keyId)
        this.#drop(caller => caller.keyId === keyId)
      }
    }
    if (options.resource !== undefined) this.#resources.guard(options.resource)
  }

  /** What the metadata of every resource say. */
  #published(): Omit<PublishedResource, 'resource'> {
    const { metadata, scopes = [], methods = {}, authorizationServers } = this.#options
    const issuers = new Set(this.#verifiers.flatMap(one => one.issuers))
    const needed = new Set([...scopes, ...Object.values(methods).flat()])
    return {
      authorizationServers: authorizationServers ?? [...issuers],
      scopesSupported: this.#options.scopesSupported ?? [...needed],
      name: metadata?.name,
      documentation: metadata?.documentation,
      dpop: this.#dpop,
      dpopAlgorithms: proofAlgorithms,
      boundToCertificates: this.#options.certificates !== undefined,
    }
  }

  /** The audiences that tokens may be issued for. */
  get #audiences(): readonly string[] {
    const { audience } = this.#options
    return audience === undefined ? this.#resources.urls : [audience].flat()
  }

  #drop(matches: (caller: KnownCaller) => boolean): void {
    this.#epoch = {}
    for (const { principal } of this.#verified.drop(matches)) this.#callers.withdraw(principal)
    this.#callers.withdrawAll(matches)
  }

  onAccessEnd(principal: Principal, end: (why: AccessEnd) => void, clock?: Clock): () => void {
    return this.#callers.watch(principal, end, clock)
  }

  get documents(): readonly string[] {
    return [...this.#resources.documents.keys()]
  }

  bind(address: string): void {
    const { resource = address } = this.#options
    checkResource(resource)
    this.#resources.guard(resource)
  }

  addPaths(paths: Readonly<Record<string, string>>): void {
    this.#resources.addPaths(paths)
  }

  document(path: string): PublicDocument | undefined {
    return this.#resources.documents.get(path)
  }

  authenticate(request: AuthRequest): Authentication | Promise<Authentication> {
    const { principal: fixed } = this.#options
    if (fixed !== undefined) return { principal: fixed }
    const values = request.values('authorization')
    const cache = request.authCache
    const [only] = values
    // Nearly every request repeats the header of the one before.
    if (
      cache?.authentication !== undefined &&
      cache.epoch === this.#epoch &&
      cache.header === only &&
      values.length === 1 &&
      (cache.until ?? 0) > this.#now() &&
      // A request with a second credential is refused.
      request.query === '' &&
      this.credentialHeaders.length === 0
    ) {
      return this.#decisions.report(cache.authentication)
    }
    let decided: Authentication | Promise<Authentication>
    try {
      decided = this.#decide(request, values)
    } catch (error) {
      decided = this.#unavailable(error)
    }
    const { path } = request
    if (!(decided instanceof Promise))
      return this.#refusals.at(path, this.#decisions.report(decided))
    return decided
      .catch(error => this.#unavailable(error))
      .then(outcome => this.#refusals.at(path, this.#decisions.report(outcome)))
  }

  authorize(method: string, principal: Principal | undefined, path = ''): AuthRefusal | undefined {
    const denied = this.#denial(method, principal)
    return denied && this.#refusals.at(path, denied)
  }

  #denial(method: string, principal: Principal | undefined): AuthRefusal | undefined {
    const { anonymous, methods = {}, scopes = [] } = this.#options
    if (principal === undefined) {
      const isOpen =
        anonymous !== undefined && anonymous !== false && anonymous.methods.includes(method)
      return isOpen
        ? undefined
        : this.#decisions.report(this.#refusals.missing(`${method} needs a token`))
    }
    const needed = Object.hasOwn(methods, method) ? (methods[method] ?? []) : []
    if (needed.length === 0) return undefined
    const has = new Set(principal.scopes)
    if (needed.every(scope => has.has(scope))) return undefined
    return this.insufficientScope([...scopes, ...needed], principal)
  }

  insufficientScope(scopes: readonly string[], principal: Principal | undefined): AuthRefusal {
    const all = [...new Set([...(this.#options.scopes ?? []), ...scopes])]
    const refusal =
      principal === undefined
        ? this.#refusals.missing('it needs a token', all)
        : this.#refusals.insufficient(all)
    return this.#decisions.report(refusal, principal)
  }

  forget(principalId: string): void {
    this.#drop(({ principal }) => principal.id === principalId)
  }

  close(): void {
    for (const one of this.#verifiers) one.close?.()
  }

  #decide(
    request: AuthRequest,
    values: readonly string[],
  ): Authentication | Promise<Authentication> {
    if (hasQueryToken(request.query)) return this.#refusals.malformed('a token in the query')
    const presented = readCredentials(values, this.credentialHeaders, request)
    if (presented === 'malformed')
      return this.#refusals.malformed('malformed or several credentials')
    if (presented === 'none') return this.#withoutToken(request)
    const known = this.#verified.get(presented.token, this.#now())
    if (known !== undefined) return this.#admit(known, presented, request, this.#epoch)
    const address = request.address(true)
    const waitMs = this.#failed.waitMs(address)
    if (waitMs > 0) return this.#refusals.tooManyFailures(waitMs)
    return this.#verify(presented, request, address)
  }

  #withoutToken(request: AuthRequest): Authentication {
    const { certificates, anonymous } = this.#options
    const { certificate } = request
    if (certificates !== undefined && certificate !== undefined) {
      const principal = certificates.principalOf(certificate)
      if (principal !== undefined) return this.#checkScopes(principal)
    }
    if (anonymous !== undefined && anonymous !== false) return { principal: undefined }
    return this.#refusals.missing('no token')
  }

  async #verify(
    presented: PresentedToken,
    request: AuthRequest,
    address: string | undefined,
  ): Promise<Authentication> {
    const verify = this.#verifierOf(presented.token)
    if (verify === undefined) {
      this.#failed.add(address)
      return this.#refusals.invalid('no verifier accepts this kind of token')
    }
    const about: TokenRequest = {
      method: request.method,
      path: request.path,
      audiences: this.#audiences,
      certificate: request.certificate,
    }
    const epoch = this.#epoch
    try {
      const verified = await this.#queue.run(async () => verify.verify(presented.token, about))
      if (verified === undefined) return this.#refusals.overloaded('too many tokens to verify')
      const closed = { ...verified, principal: this.#withImplied(verified.principal) }
      // An API key means nothing to an authorization server, which must not get to know it either.
      if (verify.issuers.length > 0) rememberCallerToken(closed.principal, presented.token)
      // A key that was withdrawn meanwhile may be the one that has verified it.
      const isCurrent = epoch === this.#epoch
      if (isCurrent && (verified.until === undefined || verified.until > this.#now())) {
        this.#verified.add(presented.token, closed)
      }
      this.#callers.add(closed)
      if (!isCurrent) this.#callers.withdraw(closed.principal)
      return await this.#admit(closed, presented, request, epoch)
    } catch (error) {
      if (!(error instanceof InvalidToken)) return this.#unavailable(error)
      this.#failed.add(address)
      return error.isExpired
        ? this.#refusals.expired(error.message)
        : this.#refusals.invalid(error.message)
    }
  }

  /**
   * The verifier for a token, by its form: trying all of them would let one refuse what another accepts. One
   * that accepts every form comes last, so that it never gets the API keys or tokens of another.
   */
  #verifierOf(token: string): Verifier | undefined {
    return (
      this.#verifiers.find(one => one.acceptsEveryForm !== true && one.recognizes(token)) ??
      this.#verifiers.find(one => one.acceptsEveryForm === true && one.recognizes(token))
    )
  }

  #withImplied(principal: Principal): Principal {
    const { implies } = this.#options
    if (implies === undefined) return principal
    let closed = this.#principals.get(principal)
    if (closed === undefined) {
      closed = withImpliedScopes(principal, implies)
      this.#principals.set(principal, closed)
    }
    return closed
  }

  /** Admits the bearer of a verified token, if it has the key that the token is bound to. */
  #admit(
    { principal, until, confirmation }: VerifiedToken,
    { scheme, token }: PresentedToken,
    request: AuthRequest,
    epoch: object,
  ): Authentication | Promise<Authentication> {
    const { jkt, x5tS256 } = confirmation ?? {}
    if (x5tS256 !== undefined && thumbprintOf(request) !== x5tS256) {
      return this.#refusals.invalid('it is bound to another certificate')
    }
    if (scheme === 'dpop' || jkt !== undefined || this.#dpop === 'require') {
      return this.#admitWithProof(principal, scheme, token, jkt, request)
    }
    const admitted = this.#checkScopes(principal)
    const cache = request.authCache
    if (cache !== undefined && admitted.status === undefined && x5tS256 === undefined) {
      const [header] = request.values('authorization')
      if (header !== undefined) {
        cache.header = header
        cache.authentication = admitted
        cache.until = until ?? Number.POSITIVE_INFINITY
        cache.epoch = epoch
      }
    }
    return admitted
  }

  async #admitWithProof(
    principal: Principal,
    scheme: PresentedToken['scheme'],
    token: string,
    jkt: string | undefined,
    request: AuthRequest,
  ): Promise<Authentication> {
    if (this.#dpop === false) return this.#refusals.invalid('DPoP is not accepted')
    if (scheme !== 'dpop') return this.#refusals.invalid('a bound token was sent as Bearer', 'dpop')
    if (jkt === undefined) return this.#refusals.invalid('the token is not bound to a key', 'dpop')
    const proofs = request.values('dpop')
    const [proof] = proofs
    if (proof === undefined || proofs.length > 1 || proof.includes(','))
      return this.#refusals.invalidProof()
    const target = {
      method: request.method,
      url: this.#resources.origin + request.path,
      token,
      jkt,
    }
    const rules = { now: this.#now, replays: this.#replays, nonces: this.#nonces }
    switch (await checkProof(proof, target, rules)) {
      case 'invalid':
        return this.#refusals.invalidProof()
      case 'full':
        return this.#refusals.overloaded('no room to remember the proof')
      case 'nonce':
        return this.#refusals.needsNonce((await this.#nonces?.current()) ?? '')
      case 'valid': {
        const admitted = this.#checkScopes(principal)
        if (admitted.status !== undefined || this.#nonces?.isEnding !== true) return admitted
        return { ...admitted, headers: { 'dpop-nonce': await this.#nonces.current() } }
      }
    }
  }

  /** Checks the scopes that every message needs. */
  #checkScopes(principal: Principal): Admission | AuthRefusal {
    const { scopes = [] } = this.#options
    const has = principal.scopes ?? []
    return scopes.every(scope => has.includes(scope))
      ? { principal }
      : this.#refusals.insufficient(scopes)
  }

  #unavailable(error: unknown): AuthRefusal {
    return this.#refusals.overloaded(errorMessage(error))
  }
}

/** The digest of the client's certificate as tokens have it: base64url. */
function thumbprintOf({ certificate }: AuthRequest): string | undefined {
  if (certificate === undefined) return undefined
  const bytes = certificate.sha256.match(/../g)?.map(pair => Number.parseInt(pair, 16)) ?? []
  return toBase64Url(Uint8Array.from(bytes))
}
