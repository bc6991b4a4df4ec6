export type { KeyRing } from '../util/crypto/keys.ts'
export { type SharedKeyOptions, type SharedKeys, sharedKeys } from './keys.ts'
export type { ClusterOptions } from './options.ts'
export { type SharedTaskOptions, sharedTasks } from './tasks/shared-tasks.ts'
