export type {
  AccessEnd,
  Admission,
  AuthCache,
  Authentication,
  Authenticator,
  AuthHeaders,
  AuthRefusal,
  AuthRequest,
  ClientCertificate,
  PublicDocument,
} from '../mcp/authenticator.ts'
export type {
  AuthorizationEvent,
  ExchangeEvent,
  GrantEvent,
  LoginEvent,
} from '../mcp/callers/authorization-event.ts'
export type { CallerCredentials } from '../mcp/callers/caller-credentials.ts'
export type { ConnectPages } from '../mcp/callers/connect-pages.ts'
export type {
  AuthorizedRequest,
  Credentials,
  CredentialsRefusal,
} from '../mcp/credentials.ts'
export { AuthError, type AuthErrorCode, type AuthErrorDetails } from './auth-error.ts'
export { type ExchangeOptions, exchange } from './client/caller/exchange.ts'
export { type IdJagOptions, idJag } from './client/caller/id-jag.ts'
export type { SubjectToken } from './client/caller/subject-token.ts'
export { type UserGrantsOptions, userGrants } from './client/caller/user-grants.ts'
export {
  type BeginOptions,
  begin,
  finish,
  type LoginResult,
  login,
  revoke,
} from './client/login/login.ts'
export { type LoopbackOptions, loopback } from './client/login/loopback.ts'
export type { Redirect, RedirectListener, RedirectOptions } from './client/login/redirect.ts'
export { type BearerToken, bearer } from './client/machine/bearer.ts'
export {
  type ClientCredentialsOptions,
  clientCredentials,
  type MachineClientOptions,
} from './client/machine/client-credentials.ts'
export {
  type EnterpriseOptions,
  enterprise,
  type IdentityProvider,
} from './client/machine/enterprise.ts'
export type { MachineOptions } from './client/machine/machine-credentials.ts'
export { type AssertionRequest, type WorkloadOptions, workload } from './client/machine/workload.ts'
export { oauth } from './client/oauth.ts'
export type { OAuthOptions, OpenPage } from './client/options.ts'
export type { PrivateKey } from './client/protocol/client-authentication.ts'
export type { PendingLogin } from './client/protocol/login-flow.ts'
export { type FileStoreOptions, fileStore } from './client/store/file-store.ts'
export { memoryStore } from './client/store/memory-store.ts'
export type { TokenStore } from './client/store/token-store.ts'
export type { BrowserLoginOptions } from './connect/browser-login.ts'
export { connectPages } from './connect/connect-pages.ts'
export type { ConnectPagesOptions } from './connect/pages-options.ts'
export { challengeOf, type TokenChallenge } from './documents/challenge.ts'
export type { CryptoKey, JWK } from './jose.ts'
export type { AddressClass } from './network/address-class.ts'
export type { NetworkOptions, NetworkReach } from './network/guarded-request.ts'
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
