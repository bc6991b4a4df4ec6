export type {
  UpstreamAuth,
  UpstreamCallerAuth,
  UpstreamClient,
  UpstreamExchange,
  UpstreamIdentityProvider,
  UpstreamIdJag,
  UpstreamUserGrant,
} from '../mcp/credentials.ts'
export type { HealthLevel } from '../observe/health/health.ts'
export type { KeyRing, SealingKeys } from '../util/crypto/keys.ts'
export type {
  AccessPolicy,
  ClaimValue,
  PolicyCondition,
  PolicyRule,
  PolicyWhen,
} from './access/policy.ts'
export type {
  CallerSession,
  CallerState,
  CallerSubscription,
  CallerTask,
} from './caller-state.ts'
export type { HiddenEntry } from './catalog/entries.ts'
export type { Lists } from './catalog/lists.ts'
export {
  RememberedLists,
  type RememberedListsFile,
  type RememberedServer,
} from './catalog/remembered-lists.ts'
export type { AuditConfig } from './config/access/fields.ts'
export type {
  ApiKeysConfig,
  AuthConfig,
  IntrospectionConfig,
  JwtConfig,
  LoginConfig,
} from './config/auth/fields.ts'
export type { ConsoleSettings } from './config/console/fields.ts'
export type { ConfigInput } from './config/dialects/inputs.ts'
export { type ConfigDiff, diffConfig } from './config/diff.ts'
export type { Environment, Places } from './config/env.ts'
export { ConfigError, type ConfigIssue, type Position } from './config/issue.ts'
export { type ReadConfigOptions, type RouterConfig, readConfig } from './config/read.ts'
export type { RouterField } from './config/schema.ts'
export type { ConfigNode, ConfigText, Member } from './config/text.ts'
export type { DeadLetter } from './dispatch/dead-letters.ts'
export type { RouterHealth } from './health.ts'
export type {
  BalanceStrategy,
  BreakerOptions,
  CallerRule,
  CallLimits,
  DeadLetterOptions,
  HashKey,
  HealthOptions,
  InstanceUrl,
  PoolOptions,
  Priority,
  PriorityRule,
  RestartOptions,
  RetryOptions,
  RouterOptions,
  ToolRules,
  ToolSearchOptions,
  UpstreamLimits,
  UpstreamOptions,
  ViewOptions,
} from './options.ts'
export { type PinChange, type PinImportOptions, type PinReport, Pins } from './pins/pins.ts'
export type { PinFile, PinnedMember, PinRecord } from './pins/records.ts'
export type { BreakerState } from './policy/breaker.ts'
export type { SharedBuckets, SharedTokenGrant, SharedTokenRequest } from './policy/shared-rate.ts'
export type { RegistryChange, UnregisterOptions } from './registry.ts'
export { Router } from './router.ts'
export type { ExposedDefinition, ExposedTool, InstanceStatus, ServerStatus } from './status.ts'
export type { InstanceState } from './upstream/instance-lifecycle.ts'
