export type { Authenticator, ClientCertificate } from '../mcp/authenticator.ts'
export type { Network, NetworkRequest, NetworkResponse } from './network/network.ts'
export type { AuthDecision, AuthOptions } from './server/auth-options.ts'
export { authenticator, type ResourceAuthenticator } from './server/authenticator.ts'
export type { ReplayCache } from './server/dpop/replay-cache.ts'
export { type KeyFileOptions, keyFile } from './server/node-key-file.ts'
export {
  type CustomVerifierOptions,
  InvalidToken,
  type TokenRequest,
  type VerifiedToken,
  type Verifier,
  VerifierUnavailable,
  verifier,
} from './server/verifier.ts'
export {
  type ApiKeyRecord,
  type ApiKeySource,
  type ApiKeysOptions,
  apiKeys,
  type NewApiKey,
  newApiKey,
} from './server/verifiers/api-keys.ts'
export {
  type CertificateOptions,
  type CertificateVerifier,
  certificate,
} from './server/verifiers/certificate.ts'
export { type IntrospectionOptions, introspection } from './server/verifiers/introspection.ts'
export { type ClaimPath, type JwtOptions, jwt } from './server/verifiers/jwt.ts'
