// The scenarios of the suite about authorization, by the revisions that they apply to.

const everyRevision = [
  'metadata-default',
  'metadata-var1',
  'metadata-var2',
  'metadata-var3',
  'basic-cimd',
  'scope-from-www-authenticate',
  'scope-from-scopes-supported',
  'scope-omitted-when-undefined',
  'scope-step-up',
  'scope-retry-limit',
  'token-endpoint-auth-basic',
  'token-endpoint-auth-post',
  'token-endpoint-auth-none',
  'pre-registration',
]
const withoutResourceMetadata = [
  '2025-03-26-oauth-metadata-backcompat',
  '2025-03-26-oauth-endpoint-fallback',
]
const sinceDraft = ['resource-mismatch', 'offline-access-scope', 'offline-access-not-supported']
const stateless = [
  'authorization-server-migration',
  'iss-supported',
  'iss-not-advertised',
  'iss-supported-missing',
  'iss-wrong-issuer',
  'iss-unexpected',
  'iss-normalized',
  'metadata-issuer-mismatch',
]
const machines = ['client-credentials-jwt', 'client-credentials-basic']
const extensions = [
  ...machines,
  'enterprise-managed-authorization',
  'dpop',
  'dpop-nonce',
  'wif-jwt-bearer',
]

const first = [
  ...everyRevision,
  ...withoutResourceMetadata,
  ...sinceDraft,
  ...machines,
  'cross-app-access-complete-flow',
]
// In 2025-11-25 the first suite runs what every revision has.
const second = [
  ...[...everyRevision, ...sinceDraft, ...stateless].map(scenario => [scenario, '2026-07-28']),
  ...withoutResourceMetadata.map(scenario => [scenario, '2025-03-26']),
  // Scenarios of an extension belong to no revision: with one they would be skipped.
  ...extensions.map(scenario => [scenario, undefined]),
]

/** Every run of a scenario about authorization: the suite, the scenario and the revision. */
export const authRuns = [
  ...first.map(scenario => ['0.1', `auth/${scenario}`, undefined]),
  ...second.map(([scenario, revision]) => ['0.2', `auth/${scenario}`, revision]),
]
