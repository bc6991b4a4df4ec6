import type { LogLevel, NotificationParams, RequestParams } from './base.ts'

export type { LogLevel } from './base.ts'

/** Every level, the mildest first. */
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

/** Whether this is the name of a level. */
export function isLogLevel(value: unknown): value is LogLevel {
  return ranks.has(value)
}

/** Whether a message of this level is to be sent to someone who asked for `minimum` and above. */
export function atLeast(level: LogLevel, minimum: LogLevel): boolean {
  return rank(level) >= rank(minimum)
}

const ranks = new Map<unknown, number>(logLevels.map((level, rank) => [level, rank]))

function rank(level: LogLevel): number {
  return ranks.get(level) ?? 0
}

/** The params of `notifications/message`. */
export interface LogMessageParams extends NotificationParams {
  readonly level: LogLevel
  /** The part of the program that speaks. */
  readonly logger?: string
  /** Anything that JSON can say. */
  readonly data: unknown
}

/** The params of `logging/setLevel`, in session revisions. */
export interface SetLevelParams extends RequestParams {
  readonly level: LogLevel
}
