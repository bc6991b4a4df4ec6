export { type SharedTaskOptions, sharedTasks } from './shared-tasks.ts'
