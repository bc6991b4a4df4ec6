import { limits } from '../../util/limits/limits.ts'
import type { Verdict, Verdicts } from '../options.ts'
import type { Settings } from '../settings.ts'

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

/** Keeps verdicts in memory, those of the servers talked to last; older ones are forgotten. */
export function boundedVerdicts(most: number = limits.verdicts.default): Verdicts {
  const kept = new Map<string, Verdict>()
  return {
    get: target => kept.get(target),
    set: (target, verdict) => {
      kept.delete(target)
      kept.set(target, verdict)
      const [oldest] = kept.keys()
      if (kept.size > most && oldest !== undefined) kept.delete(oldest)
    },
    delete: target => kept.delete(target),
  }
}

/** What this process has found out about the servers it has talked to. */
export const knownServers: Verdicts = boundedVerdicts()
