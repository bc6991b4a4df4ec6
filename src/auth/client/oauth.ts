import type { AuthHeaders } from '../../mcp/authenticator.ts'
import type { AuthorizedRequest, Credentials, CredentialsRefusal } from '../../mcp/credentials.ts'
import { limits } from '../../util/limits/limits.ts'
import { backoffMs } from '../../util/time/backoff.ts'
import { systemClock } from '../../util/time/clock.ts'
import { withTimeout } from '../../util/time/sleep.ts'
import { AuthError } from '../auth-error.ts'
import { challengeOf, type TokenChallenge } from '../documents/challenge.ts'
import { unionOfScopes } from '../documents/scope.ts'
import type { ServerMetadata } from '../documents/server-metadata.ts'
import { GuardedNetwork } from '../network/guarded-network.ts'
import { authorize } from './authorize.ts'
import { ServerBinding } from './binding.ts'
import { HeldTokens, noCredentials } from './held-tokens.ts'
import { isBoundToKey, scopesFor } from './login-choices.ts'
import { type OAuthOptions, type OAuthSettings, oauthSettings } from './options.ts'
import {
  type Discovery,
  defaultMetadata,
  discoverAuthorization,
  findServerMetadata,
} from './protocol/discovery.ts'
import { ReceivedNonces } from './protocol/dpop.ts'
import { refreshTokens } from './refresh.ts'
import { SingleFlight } from './single-flight.ts'
import { type RequestSteps, StepsByRequest, StepUpBudget } from './step-up.ts'
import {
  type FoundRecord,
  readLogin,
  readTokens,
  type TokenRecord,
  writeLogin,
  writeTokens,
} from './store/records.ts'

/**
 * Makes credentials that log a user in with OAuth, as the MCP specification describes it: they find the authorization
 * server, register this client, show the user the page to log in, and renew tokens ahead of their expiry.
 *
 * Without `redirect` and `open` no user is ever asked: stored tokens are used and renewed, and a request that
 * needs a login fails with an AuthError `'login-required'`. Throws a TypeError for invalid options.
 */
export function oauth(options: OAuthOptions = {}): Credentials {
  return new OAuthCredentials(oauthSettings(options))
}

/** How new tokens were found: in the store, by a renewal, or by a login. */
type Recovery = 'found' | 'renewed' | 'authorized'

/** Implements {@link oauth}. */
class OAuthCredentials implements Credentials {
  readonly #settings: OAuthSettings
  readonly #network: GuardedNetwork
  readonly #binding = new ServerBinding()
  readonly #nonces = new ReceivedNonces()
  readonly #budget = new StepUpBudget()
  readonly #steps = new StepsByRequest()
  readonly #recovery = new SingleFlight<Recovery>()
  readonly #renewal = new SingleFlight<HeldTokens | undefined>()
  #loading: Promise<void> | undefined
  #isLoaded = false
  #held: HeldTokens | undefined
  /** The scopes that this object has asked for so far. */
  #asked: readonly string[] = []
  /** The metadata of the authorization server that was found last, and when. */
  #known: { readonly metadata: ServerMetadata; readonly at: number } | undefined
  /** Why the last renewal failed, and how many did in a row. */
  #failure: unknown
  #failures = 0
  #nextRenewalAt = 0

  constructor(settings: OAuthSettings) {
    this.#settings = settings
    this.#network = new GuardedNetwork(settings.network)
  }

  get identity(): string {
    return this.#held?.identity ?? ''
  }

  headers(request: AuthorizedRequest): AuthHeaders | Promise<AuthHeaders> {
    this.#binding.check(request.server)
    const held = this.#held
    if (held !== undefined) return held.isDue ? this.#renewed(held, request) : held.headers(request)
    if (this.#isLoaded) return noCredentials
    this.#loading ??= this.#load(request.server).finally(() => {
      this.#loading = undefined
    })
    return this.#loading.then(() => this.headers(request))
  }

  async refused(refusal: CredentialsRefusal, signal: AbortSignal): Promise<boolean> {
    const { server, status, sent, address, request } = refusal
    this.#binding.check(server)
    this.#network.reachAs(server, address)
    const challenge = challengeOf(refusal.headers)
    if (challenge === undefined) return false
    const steps = this.#steps.next(request)
    if (steps.rounds > MOST_ROUNDS) throw this.#denied(server)
    const held = this.#held
    // Somebody else has got other tokens meanwhile.
    if (held !== undefined && sent.authorization !== held.authorization) return true
    if (status === 403) return this.#stepUp(refusal, challenge, steps, signal)
    const isNonceWanted = challenge.error === 'use_dpop_nonce' && sent.dpop !== undefined
    if (isNonceWanted && this.#nonces.get(refusal.url) !== undefined) return true
    const mayRenew = !steps.hasRenewed
    // A token of a short life may have expired on its way, and can be renewed like any other.
    const hasExpired = held?.isGood === false && mayRenew
    if (steps.authorizations > 0 && !hasExpired) throw this.#denied(server)
    const how = await this.#recovery.run(
      ending => this.#recover(server, challenge, held, mayRenew, ending),
      signal,
    )
    if (how === 'renewed') steps.hasRenewed = true
    if (how === 'authorized') steps.authorizations++
    return true
  }

  onNonce(nonce: string, url: URL): void {
    this.#nonces.learn(url, nonce)
  }

  /** Loads the tokens of an earlier login at this server. */
  async #load(server: URL): Promise<void> {
    const stored = await this.#stored(server)
    this.#isLoaded = true
    this.#held ??= stored
  }

  /** Resolves to the stored tokens for a server; to undefined if there are none that may be used. */
  async #stored(server: URL): Promise<HeldTokens | undefined> {
    const { store, client, issuer } = this.#settings
    const login = await readLogin(store, server.href)
    if (login === undefined) return undefined
    if (client !== undefined && client.clientId !== login.clientId) return undefined
    if (issuer !== undefined && issuer !== login.issuer) return undefined
    const found = await readTokens(store, login)
    return found && new HeldTokens(found, this.#nonces)
  }

  #hold(found: FoundRecord<TokenRecord>): HeldTokens {
    const held = new HeldTokens(found, this.#nonces)
    this.#held = held
    return held
  }

  /** Renews the tokens. While the old ones are good, only one request waits for that, and not for long. */
  async #renewed(held: HeldTokens, request: AuthorizedRequest): Promise<AuthHeaders> {
    const isTooEarly = Date.now() < this.#nextRenewalAt
    if (held.isGood && (this.#renewal.isActive || isTooEarly)) return held.headers(request)
    if (held.record.refreshToken === undefined) return this.#drop(held)
    if (isTooEarly && this.#failure !== undefined) throw this.#failure
    const renewal = this.#renewal.run(() => this.#renew(held))
    try {
      const next = held.isGood ? await inTime(renewal, held) : await renewal
      return next === undefined ? noCredentials : next.headers(request)
    } catch (error) {
      if (held.isGood) return held.headers(request)
      if (error instanceof AuthError && error.code === 'unreachable') throw error
      return this.#drop(held)
    }
  }

  /** Stops using tokens. Without any the server refuses the request, and then everything is looked up again. */
  #drop(held: HeldTokens): AuthHeaders {
    if (this.#held === held) this.#held = undefined
    return noCredentials
  }

  /** Resolves to the renewed tokens; to undefined if the authorization has ended. */
  async #renew(held: HeldTokens): Promise<HeldTokens | undefined> {
    const { record } = held
    try {
      const found = await refreshTokens(record, {
        settings: this.#settings,
        network: this.#network,
        nonces: this.#nonces,
        metadata: () => this.#metadataOf(record),
      })
      this.#failures = 0
      this.#failure = undefined
      if (found !== undefined) return this.#hold(found)
      this.#drop(held)
      return undefined
    } catch (error) {
      this.#failure = error
      const baseMs = limits.refreshRetryMs.default
      const maxMs = limits.refreshRetryMaxMs.default
      this.#nextRenewalAt = Date.now() + backoffMs(this.#failures++, { baseMs, maxMs })
      throw error
    }
  }

  /** Resolves to the metadata of the authorization server that has issued tokens. */
  async #metadataOf({ issuer, hasDefaultEndpoints }: TokenRecord): Promise<ServerMetadata> {
    if (hasDefaultEndpoints) return defaultMetadata(issuer)
    const { metadata: known, at } = this.#known ?? { at: 0 }
    const isRecent = Date.now() - at < limits.discoveryMs.default
    if (known?.issuer === issuer && isRecent) return known
    const { isStrict } = this.#settings
    return findServerMetadata(issuer, { network: this.#network, isStrict, signal: undefined })
  }

  /**
   * Finds other tokens after a refusal: renews the old ones, or asks the user to log in. Which authorization server the
   * MCP server trusts is looked up first, so that nothing of the old one is ever sent to another.
   */
  async #recover(
    server: URL,
    challenge: TokenChallenge,
    refused: HeldTokens | undefined,
    mayRenew: boolean,
    signal: AbortSignal,
  ): Promise<Recovery> {
    const discovery = await this.#discoverAuthorization(server, challenge, signal)
    const stored = await this.#stored(server)
    if (stored !== undefined && isFrom(discovery, stored.record)) {
      const isOther = stored.authorization !== refused?.authorization
      // Another process has logged in, or renewed the tokens.
      if (isOther && !stored.isDue) {
        this.#held = stored
        return 'found'
      }
      if (mayRenew && stored.record.refreshToken !== undefined) {
        if ((await this.#renewal.run(() => this.#renew(stored))) !== undefined) return 'renewed'
      }
    }
    const scopes = scopesFor(this.#settings, discovery, challenge)
    await this.#logIn(server, discovery, challenge, scopes, signal)
    return 'authorized'
  }

  async #stepUp(
    { server, operation }: CredentialsRefusal,
    challenge: TokenChallenge,
    steps: RequestSteps,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { scopes: needed = [], error } = challenge
    if (error !== 'insufficient_scope' || needed.length === 0) return false
    const stored = await this.#stored(server)
    const isOther = stored !== undefined && stored.authorization !== this.#held?.authorization
    // Another process has asked the user for these scopes, or a page has.
    if (isOther && needed.every(scope => stored.record.scopes.includes(scope))) {
      this.#held = stored
      return true
    }
    const granted = this.#held?.record.scopes ?? []
    const all = unionOfScopes(this.#asked, granted, needed)
    const { scopesAllowed = all } = this.#settings
    const wanted = all.filter(scope => scopesAllowed.includes(scope))
    const fail = (why: string) => {
      const words = `${operation} needs the scopes ${needed.join(' ')}: ${why}`
      return new AuthError('step-up-limit', words, { url: server.href, scopes: needed })
    }
    if (this.#settings.stepUp === 'fail') throw fail('option "stepUp" is "fail"')
    if (wanted.every(scope => granted.includes(scope)))
      throw fail('they are granted, and the server refuses nevertheless')
    const isTooMany = steps.authorizations++ >= limits.requestAuthorizations.default
    if (isTooMany || !this.#budget.take(`${operation} ${server.href}`))
      throw fail('the user was asked for them already')
    await this.#recovery.run(async ending => {
      const discovery = await this.#discoverAuthorization(server, challenge, ending)
      const scopes = scopesFor(this.#settings, discovery, { ...challenge, scopes: wanted })
      await this.#logIn(server, discovery, challenge, scopes, ending)
      return 'authorized'
    }, signal)
    return true
  }

  async #discoverAuthorization(
    server: URL,
    challenge: TokenChallenge,
    signal: AbortSignal,
  ): Promise<Discovery> {
    const { issuer, resource: audience, isStrict, store, client } = this.#settings
    const login = await readLogin(store, server.href)
    const discovery = await discoverAuthorization({
      server,
      challenge,
      network: this.#network,
      issuer,
      audience,
      isStrict,
      preferred: issuers => issuers.find(one => one === login?.issuer),
      signal,
    })
    // What was registered by hand belongs to the first authorization server that it was used with.
    const known = login?.clientId === client?.clientId ? login?.issuer : undefined
    if (client !== undefined) this.#binding.checkIssuer(discovery.metadata.issuer, known)
    this.#known = { metadata: discovery.metadata, at: Date.now() }
    return discovery
  }

  async #logIn(
    server: URL,
    discovery: Discovery,
    challenge: TokenChallenge,
    scopes: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const settings = this.#settings
    const [network, nonces] = [this.#network, this.#nonces]
    const isBound = isBoundToKey(settings, discovery, challenge)
    const request = { server, discovery, scopes, isBound, settings, network, nonces }
    const record = await authorize(request, signal)
    this.#asked = unionOfScopes(this.#asked, scopes)
    const text = await writeTokens(settings.store, record)
    await writeLogin(settings.store, server.href, record)
    this.#hold({ record, text })
  }

  #denied(server: URL): AuthError {
    const { issuer, resource } = this.#held?.record ?? {}
    const words = `${server.href} refuses the token that ${issuer ?? 'it was given'} has just issued`
    return new AuthError('denied', words, { url: server.href, issuer, resource })
  }
}

/** A request is never sent more often than this, whatever the server answers. */
const MOST_ROUNDS = 10

function isFrom(
  { metadata, resource }: Discovery,
  known: Pick<TokenRecord, 'issuer' | 'resource'>,
): boolean {
  return metadata.issuer === known.issuer && resource === known.resource
}

/** Settles with a renewal, or with the old tokens if it takes too long. */
async function inTime(
  renewal: Promise<HeldTokens | undefined>,
  held: HeldTokens,
): Promise<HeldTokens | undefined> {
  const isDone = await withTimeout(limits.refreshWaitMs.default, systemClock, done => {
    renewal.then(done, done)
  })
  return isDone ? renewal : held
}
