export type { BreakerState } from './breaker.ts'
export { type RouterConfig, readConfig } from './config.ts'
export { type ConfigDiff, diffConfig } from './config-diff.ts'
export { ConfigError, type ConfigIssue } from './config-issue.ts'
export type { HiddenEntry } from './entries.ts'
export type { InstanceState } from './instance.ts'
export type {
  BalanceName,
  BreakerOptions,
  CallLimits,
  HashBy,
  HealthOptions,
  InstanceUrl,
  RestartOptions,
  RetryOptions,
  RouterOptions,
  ToolRules,
  UpstreamLimits,
  UpstreamOptions,
} from './options.ts'
export type { PinFile, PinRecord } from './pin-records.ts'
export { type PinChange, type PinImport, Pins } from './pins.ts'
export type { RegistryChange, UnregisterOptions } from './registry.ts'
export { Router } from './router.ts'
export type { InstanceStatus, Level, ServerStatus } from './status.ts'
