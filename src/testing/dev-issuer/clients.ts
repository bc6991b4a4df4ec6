import { isEqualSecret, randomText } from '../../auth/client/protocol/encoding.ts'
import { type JWK, loadJose } from '../../auth/jose.ts'
import { GuardedNetwork } from '../../auth/network/guarded-network.ts'
import { MemoryReplayCache } from '../../auth/server/dpop/replay-cache.ts'
import { parseObject } from '../../auth/strict-json.ts'
import { BoundedMap } from '../../util/bounded-map.ts'
import { limits } from '../../util/limits/limits.ts'
import { isRecord, stringsIn } from '../../util/objects.ts'
import { OAuthProblem } from './oauth-response.ts'
import type { DevClient, DevIssuerSettings } from './options.ts'

/** How clients can authenticate at the token endpoint. */
export const clientAuthMethods = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const

type ClientAuthMethod = (typeof clientAuthMethods)[number]

/** The signature algorithms of the assertions of clients. */
export const assertionAlgorithms = ['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA', 'Ed25519']

/** A client that the issuer knows. */
export interface KnownClient {
  readonly clientId: string
  readonly name: string
  readonly authMethod: ClientAuthMethod
  readonly secret?: string
  readonly keys: readonly JWK[]
  readonly redirectUris: readonly string[]
  readonly grantTypes: readonly string[]
}

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** The clients of an issuer: given, registered (RFC 7591), or described by a document at their id. */
export class Clients {
  readonly #settings: Pick<DevIssuerSettings, 'now' | 'network'>
  readonly #known: BoundedMap<KnownClient>
  readonly #assertions = new MemoryReplayCache()

  constructor(settings: Pick<DevIssuerSettings, 'now' | 'network' | 'clients'>) {
    this.#settings = settings
    this.#known = new BoundedMap(limits.devIssuerEntries.default, Number.POSITIVE_INFINITY)
    for (const client of settings.clients) this.#add(givenClient(client))
  }

  /** Registers a client. Returns the registration response. Throws an OAuthProblem for invalid metadata. */
  register(metadata: unknown): object {
    if (!isRecord(metadata))
      throw new OAuthProblem('invalid_client_metadata', 'the body must be a JSON object')
    const clientId = randomText()
    const client = { ...readMetadata(metadata, clientId), secret: randomText() }
    const hasSecret = client.authMethod.startsWith('client_secret')
    this.#add(client)
    return {
      ...metadata,
      client_id: clientId,
      client_id_issued_at: Math.floor(this.#settings.now() / 1000),
      ...(hasSecret && { client_secret: client.secret, client_secret_expires_at: 0 }),
      client_name: client.name,
      redirect_uris: client.redirectUris,
      grant_types: client.grantTypes,
      response_types: ['code'],
      token_endpoint_auth_method: client.authMethod,
    }
  }

  /** Finds a client by its id. Rejects with an OAuthProblem for an unknown one. */
  async find(clientId: string): Promise<KnownClient> {
    const known = this.#known.get(clientId)
    if (known !== undefined) return known
    const url = URL.canParse(clientId) ? new URL(clientId) : undefined
    if (url?.protocol !== 'https:' || url.pathname === '/')
      throw new OAuthProblem('invalid_client', 'the client is not registered', { status: 401 })
    return this.#fetchDocument(url, clientId)
  }

  /** Authenticates the client of a token request. Rejects with an OAuthProblem `invalid_client`. */
  async authenticate(
    request: Request,
    form: URLSearchParams,
    audiences: readonly string[],
  ): Promise<KnownClient> {
    const basic = basicCredentials(request.headers.get('authorization'))
    const clientId = basic?.clientId ?? form.get('client_id') ?? (await assertedClient(form))
    const client = await this.find(clientId ?? '')
    if (basic !== undefined && form.has('client_id') && form.get('client_id') !== clientId)
      throw refused('two client ids are given')
    switch (client.authMethod) {
      case 'client_secret_basic':
        if (isSecretOf(client, basic?.secret)) return client
        throw refused('the secret is wrong, or not sent by Basic')
      case 'client_secret_post':
        if (isSecretOf(client, form.get('client_secret'))) return client
        throw refused('the secret is wrong, or not sent in the form')
      case 'private_key_jwt':
        await this.#checkAssertion(client, form, audiences)
        return client
      case 'none':
        if (basic === undefined && !form.has('client_secret')) return client
        throw refused('this client is registered without a secret')
    }
  }

  #add(client: KnownClient): void {
    this.#known.set(client.clientId, client, 0)
  }

  async #checkAssertion(
    { clientId, keys }: KnownClient,
    form: URLSearchParams,
    audiences: readonly string[],
  ): Promise<void> {
    const assertion = form.get('client_assertion')
    if (assertion === null || form.get('client_assertion_type') !== assertionType)
      throw refused('the client has to authenticate with an assertion')
    const { jwtVerify, createLocalJWKSet } = await loadJose()
    const now = this.#settings.now()
    const rules = {
      issuer: clientId,
      subject: clientId,
      audience: [...audiences],
      algorithms: assertionAlgorithms,
      requiredClaims: ['exp', 'jti'],
      currentDate: new Date(now),
    }
    const verified = await jwtVerify(
      assertion,
      createLocalJWKSet({ keys: [...keys] }),
      rules,
    ).catch(() => undefined)
    if (verified === undefined) throw refused('the assertion is invalid')
    const { jti = '', exp = 0 } = verified.payload
    if (this.#assertions.add(`${clientId} ${jti}`, exp * 1000, now) !== true)
      throw refused('the assertion was used before')
  }

  /** Gets the metadata document of a client whose id is its URL. */
  async #fetchDocument(url: URL, clientId: string): Promise<KnownClient> {
    const response = await new GuardedNetwork(this.#settings.network).get(url, undefined)
    const document = response.status === 200 ? parseObject(response.text) : undefined
    if (document?.client_id !== clientId)
      throw refused(`there is no metadata document with this client_id at ${url.href}`)
    const client = readMetadata(document, clientId)
    if (client.authMethod.startsWith('client_secret'))
      throw refused('a client with a metadata document cannot have a secret')
    return client
  }
}

function givenClient({ clientId, clientSecret, publicKey, redirectUris }: DevClient): KnownClient {
  const authMethod =
    publicKey !== undefined
      ? 'private_key_jwt'
      : clientSecret !== undefined
        ? 'client_secret_basic'
        : 'none'
  return {
    clientId,
    name: clientId,
    authMethod,
    secret: clientSecret,
    keys: publicKey === undefined ? [] : [publicKey],
    redirectUris: redirectUris ?? [],
    grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
  }
}

function readMetadata(
  metadata: Readonly<Record<string, unknown>>,
  clientId: string,
): Omit<KnownClient, 'secret'> {
  const redirectUris = stringsIn(metadata.redirect_uris) ?? []
  const grantTypes = stringsIn(metadata.grant_types) ?? ['authorization_code']
  if (grantTypes.includes('authorization_code') && redirectUris.length === 0)
    throw new OAuthProblem('invalid_redirect_uri', '"redirect_uris" is missing')
  for (const uri of redirectUris) {
    if (
      !URL.canParse(uri) ||
      uri.includes('#') ||
      /^(?:javascript|data|file|vbscript|blob):/i.test(uri)
    )
      throw new OAuthProblem('invalid_redirect_uri', `${uri} cannot be redirected to`)
  }
  const asked = metadata.token_endpoint_auth_method ?? 'client_secret_basic'
  const authMethod = clientAuthMethods.find(method => method === asked)
  if (authMethod === undefined)
    throw new OAuthProblem(
      'invalid_client_metadata',
      `"token_endpoint_auth_method" must be one of ${clientAuthMethods.join(', ')}`,
    )
  const { jwks, client_name: name } = metadata
  const keys = isRecord(jwks) && Array.isArray(jwks.keys) ? jwks.keys.filter(isRecord) : []
  if (authMethod === 'private_key_jwt' && keys.length === 0)
    throw new OAuthProblem('invalid_client_metadata', 'private_key_jwt requires "jwks"')
  return {
    clientId,
    name: typeof name === 'string' ? name : clientId,
    authMethod,
    // The check: a key that is none fails when it verifies an assertion.
    keys: keys as readonly JWK[],
    redirectUris,
    grantTypes,
  }
}

/** Whether the browser may return to an address. The port of this machine is free to choose (RFC 8252, 7.3). */
export function allowsRedirect({ redirectUris }: KnownClient, uri: string): boolean {
  if (redirectUris.includes(uri)) return true
  const asked = URL.canParse(uri) ? new URL(uri) : undefined
  if (asked?.protocol !== 'http:' || !/^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(asked.hostname))
    return false
  asked.port = ''
  return redirectUris.some(registered => {
    const known = new URL(registered)
    known.port = ''
    return known.href === asked.href
  })
}

function basicCredentials(
  header: string | null,
): { readonly clientId: string; readonly secret: string } | undefined {
  const [, encoded] = /^Basic ([A-Za-z0-9+/]+=*)$/i.exec(header ?? '') ?? []
  if (encoded === undefined) return undefined
  const [clientId = '', secret = ''] = atob(encoded).split(':').map(decodeFormText)
  return { clientId, secret }
}

function decodeFormText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

async function assertedClient(form: URLSearchParams): Promise<string | undefined> {
  const assertion = form.get('client_assertion')
  if (assertion === null) return undefined
  const { decodeJwt } = await loadJose()
  try {
    return decodeJwt(assertion).sub
  } catch {
    return undefined
  }
}

function isSecretOf({ secret }: KnownClient, given: string | null | undefined): boolean {
  return secret !== undefined && given != null && isEqualSecret(secret, given)
}

function refused(why: string): OAuthProblem {
  return new OAuthProblem('invalid_client', why, {
    status: 401,
    headers: { 'www-authenticate': 'Basic' },
  })
}
