export type { HealthLevel } from '../observe/health/health.ts'
export type { HiddenEntry } from './catalog/entries.ts'
export {
  RememberedLists,
  type RememberedListsFile,
  type RememberedServer,
} from './catalog/remembered-lists.ts'
export { type ConfigDiff, diffConfig } from './config/diff.ts'
export { ConfigError, type ConfigIssue } from './config/issue.ts'
export { type RouterConfig, readConfig } from './config/read.ts'
export type { DeadLetter } from './dispatch/dead-letters.ts'
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
export { type PinChange, type PinImportOptions, Pins } from './pins/pins.ts'
export type { PinFile, PinRecord } from './pins/records.ts'
export type { BreakerState } from './policy/breaker.ts'
export type { RegistryChange, UnregisterOptions } from './registry.ts'
export { Router } from './router.ts'
export type { InstanceStatus, ServerStatus } from './status.ts'
export type { InstanceState } from './upstream/instance-lifecycle.ts'
