export { type Console, consoleOf } from './console.ts'
export type { ConsoleConfig, ConsoleOptions } from './options.ts'
export type {
  ConfigAnswer,
  ConfigCheckAnswer,
  ConsoleActions,
  HostSnippet,
  IssueRow,
} from './wire.ts'
