export type {
  AuthorizedRequest,
  Credentials,
  CredentialsRefusal,
} from '../mcp/credentials.ts'
export { AuthError, type AuthErrorCode, type AuthErrorDetails } from './auth-error.ts'
export { oauth } from './client/oauth.ts'
export type { OAuthOptions, OpenPage } from './client/options.ts'
export { challengeOf, type TokenChallenge } from './documents/challenge.ts'
export type { CryptoKey, JWK } from './jose.ts'
export {
  type BeginOptions,
  begin,
  finish,
  type LoginResult,
  login,
  revoke,
} from './login/login.ts'
export { type LoopbackOptions, loopback } from './login/loopback.ts'
export type { Redirect, RedirectListener, RedirectOptions } from './login/redirect.ts'
export { type BearerToken, bearer } from './machine/bearer.ts'
export {
  type ClientCredentialsOptions,
  clientCredentials,
  type MachineClientOptions,
} from './machine/client-credentials.ts'
export { type EnterpriseOptions, enterprise, type IdentityProvider } from './machine/enterprise.ts'
export { type ExchangeOptions, exchange, type SubjectToken } from './machine/exchange.ts'
export type { MachineOptions } from './machine/machine-credentials.ts'
export { type AssertionRequest, type WorkloadOptions, workload } from './machine/workload.ts'
export type { NetworkOptions, NetworkReach } from './network/network.ts'
export type { PrivateKey } from './protocol/client-authentication.ts'
export type { PendingLogin } from './protocol/login-flow.ts'
export { type FileStoreOptions, fileStore } from './store/file-store.ts'
export { memoryStore } from './store/memory-store.ts'
export type { TokenStore } from './store/token-store.ts'
