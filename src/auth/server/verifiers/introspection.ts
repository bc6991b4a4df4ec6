import type { Principal } from '../../../jsonrpc/channel.ts'
import { limits } from '../../../util/limits/limits.ts'
import { deepFreeze } from '../../../util/objects.ts'
import { checkOptions, type OptionTableOf } from '../../../util/options.ts'
import { errorMessage } from '../../../util/text/error-message.ts'
import { claimStrings } from '../../documents/jwt-parts.ts'
import { fetchNetwork, type Network } from '../../network/network.ts'
import { parseObject } from '../../strict-json.ts'
import {
  InvalidToken,
  type VerifiedToken,
  type Verifier,
  VerifierUnavailable,
} from '../verifier.ts'
import { confirmationOf } from './confirmation.ts'

/** The options of `introspection`. */
export interface IntrospectionOptions {
  /** The issuer of the tokens. */
  readonly issuer: string
  /** The introspection endpoint of the issuer. */
  readonly endpoint: string
  /** The client id of this server at the issuer. */
  readonly clientId: string
  /** The client secret of this server at the issuer. */
  readonly clientSecret: string
  /** The audiences, one of which the token must have; by default the resource of the listener. */
  readonly audience?: string | readonly string[]
  /** Accepts tokens whose audience the endpoint does not tell. */
  readonly audienceOptional?: boolean
  /** How long a token without an expiry is used, in milliseconds; such tokens are rejected by default. */
  readonly ttlMs?: number
  /** How requests to the endpoint are sent. */
  readonly network?: Network
  /** The time in milliseconds since 1970; for tests. */
  readonly now?: () => number
}

const table: OptionTableOf<IntrospectionOptions> = {
  issuer: 'string',
  endpoint: 'string',
  clientId: 'string',
  clientSecret: 'string',
  audience: 'any',
  audienceOptional: 'boolean',
  ttlMs: 'ms',
  network: 'function',
  now: 'function',
}

type Answer = Readonly<Record<string, unknown>>

/** Verifies tokens by asking their issuer (RFC 7662): for tokens that are not JSON Web Tokens. */
export function introspection(options: IntrospectionOptions): Verifier {
  checkOptions(options, table)
  for (const name of ['issuer', 'endpoint', 'clientId', 'clientSecret'] as const) {
    if (options[name] === undefined) throw new TypeError(`introspection() needs "${name}"`)
  }
  const { now = Date.now } = options
  const endpoint = new IntrospectionEndpoint(options)
  /** Tokens that are known to be invalid, with the time until which they need not be asked about. */
  const inactive = new Map<string, number>()
  return {
    name: 'introspection',
    issuers: [options.issuer],
    dpop: true,
    acceptsEveryForm: true,
    recognizes: () => true,
    verify: async (token, { audiences }) => {
      if ((inactive.get(token) ?? 0) > now()) throw new InvalidToken('it is not active')
      const answer = await endpoint.ask(token)
      if (answer.active !== true) {
        remember(inactive, token, now() + limits.introspectionNegativeMs.default)
        throw new InvalidToken('it is not active')
      }
      return verified(answer, audiences, options, now())
    },
  }
}

/** Sends requests to the endpoint: one for all requests with the same token, and none while it fails. */
class IntrospectionEndpoint {
  readonly #options: IntrospectionOptions
  readonly #network: Network
  readonly #now: () => number
  readonly #asking = new Map<string, Promise<Answer>>()
  #failures = 0
  #openUntil = 0

  constructor(options: IntrospectionOptions) {
    this.#options = options
    this.#network = options.network ?? fetchNetwork()
    this.#now = options.now ?? Date.now
  }

  ask(token: string): Promise<Answer> {
    const known = this.#asking.get(token)
    if (known !== undefined) return known
    const asking = this.#ask(token).finally(() => this.#asking.delete(token))
    this.#asking.set(token, asking)
    return asking
  }

  async #ask(token: string): Promise<Answer> {
    const { endpoint, clientId, clientSecret } = this.#options
    if (this.#openUntil > this.#now()) {
      throw new VerifierUnavailable('the introspection endpoint fails')
    }
    const credentials = btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)
    try {
      const { status, text } = await this.#network(endpoint, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          authorization: `Basic ${credentials}`,
        },
        body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
        maxBytes: limits.keySetBytes.default,
        timeoutMs: 3000,
      })
      const answer = status === 200 ? parseObject(text) : undefined
      if (answer === undefined || typeof answer.active !== 'boolean') {
        throw new Error(`the endpoint answered ${status} without a valid body`)
      }
      this.#failures = 0
      return answer
    } catch (cause) {
      if (++this.#failures >= limits.introspectionFailures.default) {
        this.#openUntil = this.#now() + 5000
        this.#failures = 0
      }
      throw new VerifierUnavailable(`introspection: ${errorMessage(cause)}`, { cause })
    }
  }
}

function verified(
  answer: Answer,
  resources: readonly string[],
  options: IntrospectionOptions,
  now: number,
): VerifiedToken {
  const { issuer, ttlMs } = options
  if (answer.iss !== undefined && answer.iss !== issuer)
    throw new InvalidToken('its issuer is not trusted')
  const wanted = options.audience === undefined ? resources : (claimStrings(options.audience) ?? [])
  const audiences = claimStrings(answer.aud)
  const isUnsaid = answer.aud === undefined && options.audienceOptional === true
  if (!isUnsaid && !audiences?.some(one => wanted.includes(one))) {
    throw new InvalidToken('it is meant for another audience')
  }
  const { exp } = answer
  const expiresAt = typeof exp === 'number' && Number.isFinite(exp) ? exp * 1000 : undefined
  if (expiresAt === undefined && ttlMs === undefined) throw new InvalidToken('it has no expiry')
  if (expiresAt !== undefined && expiresAt <= now)
    throw new InvalidToken('it has expired', { isExpired: true })
  return {
    principal: principalOf(answer, issuer, expiresAt),
    until: Math.min(
      expiresAt ?? Number.POSITIVE_INFINITY,
      now + (ttlMs ?? Number.POSITIVE_INFINITY),
      now + limits.introspectionMs.default,
    ),
    confirmation: confirmationOf(answer),
  }
}

function principalOf(answer: Answer, issuer: string, expiresAt: number | undefined): Principal {
  const text = (name: string): string | undefined =>
    typeof answer[name] === 'string' && answer[name] !== '' ? (answer[name] as string) : undefined
  const client = text('client_id')
  const subject = text('sub') ?? client ?? text('username')
  if (subject === undefined) throw new InvalidToken('it names nobody')
  return Object.freeze({
    id: `${issuer} ${subject}`,
    issuer,
    subject,
    client,
    scopes: Object.freeze((text('scope') ?? '').split(' ').filter(scope => scope !== '')),
    claims: deepFreeze(structuredClone(answer)),
    expiresAt,
    verifier: 'introspection',
  })
}

function remember(inactive: Map<string, number>, token: string, until: number): void {
  inactive.delete(token)
  inactive.set(token, until)
  const [oldest] = inactive.keys()
  if (inactive.size > limits.introspectionNegatives.default && oldest !== undefined)
    inactive.delete(oldest)
}
