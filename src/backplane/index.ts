export type { Backplane, BackplaneState } from './backplane.ts'
export { BackplaneError, type BackplaneErrorCode } from './backplane-error.ts'
export type { LogEntry, LogPage, LogPosition, LogRetention, SharedLog } from './log.ts'
export type { ClusterMember, HeartbeatReply, Membership } from './membership.ts'
export { type MemoryOptions, memory } from './memory/memory.ts'
export type { BusSubscriber, MessageBus } from './message-bus.ts'
export { type ParentBackplaneOptions, parentBackplane } from './parent/parent.ts'
export type { ProcessChannel } from './parent/process-channel.ts'
export { serveBackplane } from './parent/state-server.ts'
export type {
  ClaimResult,
  OwnedWrite,
  RecordOwner,
  RecordStore,
  RecordWrite,
  StoredRecord,
  SwapResult,
} from './record-store.ts'
export type { BucketRequest, SharedRates, TakenTokens } from './shared-rates.ts'
