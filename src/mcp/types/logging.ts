import type { LogLevel, NotificationParams, RequestParams } from './base.ts'

export type { LogLevel } from './base.ts'

/** Every level, least severe first. */
export const logLevels = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const satisfies readonly LogLevel[]

/** Whether a value is the name of a level. */
export function isLogLevel(value: unknown): value is LogLevel {
  return ranks.has(value)
}

/** Whether a message of this level is sent to a client that set the level `minimum`. */
export function atLeast(level: LogLevel, minimum: LogLevel): boolean {
  return rank(level) >= rank(minimum)
}

const ranks = new Map<unknown, number>(logLevels.map((level, rank) => [level, rank]))

function rank(level: LogLevel): number {
  return ranks.get(level) ?? 0
}

/** The params of `notifications/message`. */
export interface LogMessageParams extends NotificationParams {
  /** How severe the message is. */
  readonly level: LogLevel
  /** The component that logs the message. */
  readonly logger?: string
  /** Any JSON value. */
  readonly data: unknown
}

/** The params of `logging/setLevel`, in session revisions. */
export interface SetLevelParams extends RequestParams {
  /** The least severe level to send. */
  readonly level: LogLevel
}
