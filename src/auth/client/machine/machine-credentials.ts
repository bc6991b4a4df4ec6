import type { AuthHeaders } from '../../../mcp/authenticator.ts'
import type {
  AuthorizedRequest,
  Credentials,
  CredentialsRefusal,
} from '../../../mcp/credentials.ts'
import { AuthError } from '../../auth-error.ts'
import { challengeOf, type TokenChallenge } from '../../documents/challenge.ts'
import { unionOfScopes } from '../../documents/scope.ts'
import type { TokenResponse } from '../../documents/token-response.ts'
import { GuardedNetwork } from '../../network/guarded-network.ts'
import type { NetworkOptions } from '../../network/guarded-request.ts'
import { ServerBinding } from '../binding.ts'
import { HeldTokens, noCredentials } from '../held-tokens.ts'
import { isBoundToKey, scopesFor } from '../login-choices.ts'
import { type Discovery, discoverAuthorization } from '../protocol/discovery.ts'
import { DpopKey, ReceivedNonces } from '../protocol/dpop.ts'
import { tokensOf } from '../protocol/login-flow.ts'
import { SingleFlight } from '../single-flight.ts'
import { StepsByRequest } from '../step-up.ts'
import type { TokenRecord } from '../store/records.ts'

/** Options of all credentials of programs, which no user has to log in for. */
export interface MachineOptions {
  /** The only authorization server to use, so that no other ever gets anything secret. */
  readonly issuer?: string
  /** Scopes to ask for besides those that the server names. */
  readonly scopes?: readonly string[]
  /** The only scopes to ask for, whatever the server names. */
  readonly scopesAllowed?: readonly string[]
  /** What to send as `resource` instead of what the server names; false sends none. */
  readonly resource?: string | false
  /** Whether tokens are bound to a key (DPoP): `auto` if the server requires it, which is the default. */
  readonly dpop?: 'auto' | 'always' | 'never'
  /** Whether to accept no deviation from the current specification, such as servers without metadata. */
  readonly strict?: boolean
  /** How requests for authorization are sent. */
  readonly network?: NetworkOptions
}

/** What a request for tokens needs. */
export interface MachineRequest {
  readonly discovery: Discovery
  readonly scopes: readonly string[]
  readonly network: GuardedNetwork
  readonly nonces: ReceivedNonces
  readonly dpop: DpopKey | undefined
  readonly signal: AbortSignal
}

/** How a program gets tokens. */
export interface MachineGrant {
  readonly clientId: string
  /** Requests tokens. Rejects with an AuthError. */
  obtain(request: MachineRequest): Promise<TokenResponse>
  /** Finds out how to get tokens before the server has asked for any; undefined if only the server can say. */
  prepare?(server: URL, network: GuardedNetwork): Promise<Discovery>
}

/** Makes credentials that get their tokens without a user. */
export function machineCredentials(grant: MachineGrant, options: MachineOptions): Credentials {
  return new MachineCredentials(grant, options)
}

class MachineCredentials implements Credentials {
  readonly #grant: MachineGrant
  readonly #options: MachineOptions
  readonly #network: GuardedNetwork
  readonly #binding = new ServerBinding()
  readonly #nonces = new ReceivedNonces()
  readonly #steps = new StepsByRequest()
  readonly #flight = new SingleFlight<HeldTokens>()
  #held: HeldTokens | undefined
  #discovery: Discovery | undefined
  #challenge: TokenChallenge | undefined
  #scopes: readonly string[] = []

  constructor(grant: MachineGrant, options: MachineOptions) {
    this.#grant = grant
    this.#options = options
    this.#network = new GuardedNetwork(options.network)
  }

  get identity(): string {
    return this.#held?.identity ?? ''
  }

  headers(request: AuthorizedRequest): AuthHeaders | Promise<AuthHeaders> {
    this.#binding.check(request.server)
    const held = this.#held
    if (held !== undefined && !held.isDue) return held.headers(request)
    if (held?.isGood && this.#flight.isActive) return held.headers(request)
    if (this.#discovery === undefined && this.#grant.prepare === undefined) return noCredentials
    return this.#renewed(request, held)
  }

  async refused(refusal: CredentialsRefusal, signal: AbortSignal): Promise<boolean> {
    const { server, status, sent, address, request, url } = refusal
    this.#binding.check(server)
    this.#network.reachAs(server, address)
    const challenge = challengeOf(refusal.headers)
    if (challenge === undefined) return false
    const steps = this.#steps.next(request)
    if (steps.rounds > MOST_ROUNDS) throw denied(server)
    const held = this.#held
    if (held !== undefined && sent.authorization !== held.authorization) return true
    const isNonceWanted = challenge.error === 'use_dpop_nonce' && sent.dpop !== undefined
    if (isNonceWanted && this.#nonces.get(url) !== undefined) return true
    const wanted = status === 403 ? this.#scopesAfter(challenge) : []
    if (wanted === undefined) return false
    // One token, and one with more scopes: a program has no other way to get more than what it was given.
    const isRepeated = status === 403 ? steps.authorizations++ > 0 : steps.hasRenewed
    if (isRepeated) throw denied(server)
    if (status === 401) steps.hasRenewed = true
    await this.#flight.run(async ending => {
      const discovery = await this.#discoverAuthorization(server, challenge, ending)
      return this.#obtain(discovery, challenge, wanted, ending)
    }, signal)
    return true
  }

  onNonce(nonce: string, url: URL): void {
    this.#nonces.learn(url, nonce)
  }

  /** Returns the scopes to ask for after a request for more; undefined if there is nothing to ask for. */
  #scopesAfter({ error, scopes = [] }: TokenChallenge): readonly string[] | undefined {
    const granted = this.#held?.record.scopes ?? []
    const isNew = scopes.some(scope => !granted.includes(scope))
    if (error !== 'insufficient_scope' || !isNew) return undefined
    return unionOfScopes(this.#scopes, granted, scopes)
  }

  async #renewed(request: AuthorizedRequest, held: HeldTokens | undefined): Promise<AuthHeaders> {
    try {
      const next = await this.#flight.run(async signal => {
        const known = this.#discovery ?? (await this.#prepare(request.server))
        return this.#obtain(known, this.#challenge, this.#scopes, signal)
      })
      return await next.headers(request)
    } catch (error) {
      if (held?.isGood) return held.headers(request)
      throw error
    }
  }

  async #prepare(server: URL): Promise<Discovery> {
    this.#network.reachAs(server, undefined)
    const discovery = await this.#grant.prepare?.(server, this.#network)
    if (discovery !== undefined) return discovery
    throw new AuthError('login-required', `nothing is known of ${server.href} yet`)
  }

  async #discoverAuthorization(
    server: URL,
    challenge: TokenChallenge,
    signal: AbortSignal,
  ): Promise<Discovery> {
    const prepared = await this.#grant.prepare?.(server, this.#network)
    if (prepared !== undefined) return prepared
    const { issuer, resource: audience, strict: isStrict = false } = this.#options
    const network = this.#network
    const found = await discoverAuthorization({
      server,
      challenge,
      network,
      issuer,
      audience,
      isStrict,
      signal,
    })
    this.#binding.checkIssuer(found.metadata.issuer)
    return found
  }

  async #obtain(
    discovery: Discovery,
    challenge: TokenChallenge | undefined,
    more: readonly string[],
    signal: AbortSignal,
  ): Promise<HeldTokens> {
    const { scopes: own = [], scopesAllowed, dpop: mode = 'auto' } = this.#options
    const choice = { scopes: unionOfScopes(own, more), scopesAllowed, offline: false }
    const scopes = scopesFor(choice, discovery, challenge)
    const [network, nonces] = [this.#network, this.#nonces]
    const isBound = isBoundToKey({ dpop: mode }, discovery, challenge)
    const dpop = isBound ? await DpopKey.create(nonces) : undefined
    const request = { discovery, scopes, network, nonces, dpop, signal }
    const tokens = tokensOf(await this.#grant.obtain(request))
    const record: TokenRecord = {
      issuer: discovery.metadata.issuer,
      resource: discovery.resource,
      clientId: this.#grant.clientId,
      grant: 'machine',
      key: dpop?.jwk,
      ...tokens,
      scopes: tokens.scopes ?? scopes,
    }
    this.#discovery = discovery
    this.#challenge = challenge
    this.#scopes = scopes
    this.#held = new HeldTokens({ record, text: '' }, nonces, true)
    return this.#held
  }
}

/** A request is never sent more often than this, whatever the server answers. */
const MOST_ROUNDS = 10

function denied(server: URL): AuthError {
  const words = `${server.href} refuses the token that it was given`
  return new AuthError('denied', words, { url: server.href })
}
