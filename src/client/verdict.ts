import { limits } from '../util/limits.ts'
import type { Verdict } from './options.ts'
import type { Settings } from './settings.ts'

/**
 * What was found out about this server before, if it still counts. That it has sessions is doubted
 * after a day: a server that has learned to do without them still answers `initialize`, so nothing
 * else would ever show it.
 */
export function recall({ remember }: Settings): Verdict | undefined {
  const verdict = remember.verdicts.get(remember.target)
  if (verdict?.era !== 'session') return verdict
  return Date.now() - verdict.at < limits.verdictMs.default ? verdict : undefined
}

/** Keeps what was found out, with the date. */
export function remember({ remember: where }: Settings, era: Verdict['era']): void {
  where.verdicts.set(where.target, { era, at: Date.now() })
}

/** The verdict was wrong. */
export function forget({ remember: where }: Settings): void {
  where.verdicts.delete(where.target)
}
