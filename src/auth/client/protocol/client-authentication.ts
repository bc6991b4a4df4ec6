import type { ServerMetadata } from '../../documents/server-metadata.ts'
import { type CryptoKey, type JWK, loadJose } from '../../jose.ts'
import { randomText } from './encoding.ts'

/** A private key: PEM text (PKCS #8), a JWK, or a key of WebCrypto. */
export type PrivateKey = string | JWK | CryptoKey

/** This client, as an authorization server knows it. */
export interface OAuthClient {
  readonly clientId: string
  readonly clientSecret?: string
  readonly privateKey?: PrivateKey
  /** The algorithm of the private key; that of the JWK, or ES256 by default. */
  readonly algorithm?: string
  /** How the client authenticates; chosen by what the authorization server supports by default. */
  readonly authMethod?: string
}

/** What a request to a token endpoint carries so that the client is authenticated. */
export interface ClientAuthentication {
  readonly headers: Readonly<Record<string, string>>
  readonly form: Readonly<Record<string, string>>
}

/** Authenticates a client at an authorization server. */
export async function authenticateClient(
  client: OAuthClient,
  metadata: ServerMetadata,
): Promise<ClientAuthentication> {
  const { clientId, clientSecret = '' } = client
  switch (authMethodOf(client, metadata)) {
    case 'client_secret_basic': {
      const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`
      return { headers: { authorization: `Basic ${btoa(pair)}` }, form: {} }
    }
    case 'client_secret_post':
      return { headers: {}, form: { client_id: clientId, client_secret: clientSecret } }
    case 'private_key_jwt':
      return {
        headers: {},
        form: {
          client_id: clientId,
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: await clientAssertion(client, metadata.issuer),
        },
      }
    default:
      return { headers: {}, form: { client_id: clientId } }
  }
}

function authMethodOf(
  { privateKey, clientSecret, authMethod }: OAuthClient,
  { authMethods }: ServerMetadata,
): string {
  if (privateKey !== undefined) return 'private_key_jwt'
  if (clientSecret === undefined) return 'none'
  if (authMethod !== undefined) return authMethod
  if (authMethods === undefined || authMethods.length === 0) return 'client_secret_basic'
  const known = ['client_secret_basic', 'client_secret_post', 'none']
  return known.find(method => authMethods.includes(method)) ?? 'client_secret_basic'
}

/** Signs the assertion of a client for one authorization server (RFC 7523), good for a minute. */
async function clientAssertion(
  { clientId, privateKey = '', algorithm }: OAuthClient,
  issuer: string,
): Promise<string> {
  const { SignJWT, importPKCS8, importJWK } = await loadJose()
  const isJwk = typeof privateKey === 'object' && 'kty' in privateKey
  const alg = algorithm ?? (isJwk ? privateKey.alg : undefined) ?? 'ES256'
  const kid = isJwk ? privateKey.kid : undefined
  const key =
    typeof privateKey === 'string'
      ? await importPKCS8(privateKey, alg)
      : isJwk
        ? await importJWK(privateKey, alg)
        : privateKey
  return new SignJWT({ jti: randomText() })
    .setProtectedHeader({ alg, ...(kid !== undefined && { kid }) })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(issuer)
    .setIssuedAt()
    .setExpirationTime('60s')
    .sign(key)
}
