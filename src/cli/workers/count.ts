import { availableParallelism } from 'node:os'
import { limits } from '../../util/limits/limits.ts'
import { type CommandLine, parseNumber } from '../arguments.ts'

/** Returns how many processes `--workers` asks for; 1 without it. Throws a UsageError for an invalid number. */
export function workerCount(input: Pick<CommandLine, 'value'>): number {
  const text = input.value('workers')
  const max = limits.maxWorkers.default
  if (text === undefined) return 1
  if (text === 'auto') return Math.min(availableParallelism(), max)
  return parseNumber('workers', text, { max, integer: true })
}
