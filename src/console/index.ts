export { type Console, consoleOf } from './console.ts'
export type { ConsoleCheck, ConsoleConfig, ConsoleOptions } from './options.ts'
export type {
  CheckFindingRow,
  CheckStepRow,
  ConfigAnswer,
  ConfigCheckAnswer,
  ConsoleActions,
  HostSnippet,
  IssueRow,
} from './wire.ts'
