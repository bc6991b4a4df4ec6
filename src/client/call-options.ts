import { checkOptions, type OptionTable } from '../util/options.ts'

const call = { signal: 'object', timeoutMs: 'ms' } as const

/** The options of one request, and of a tool call with its `output`. */
export const requestTable: OptionTable = {
  ...call,
  onProgress: 'function',
  maxTotalMs: 'maxMs',
  fresh: 'boolean',
  output: 'any',
}

/** The options of a tool call as a task. */
export const startTable: OptionTable = { ...call, ttlMs: 'number' }

/** The options of a subscription to changes. */
export const changesTable: OptionTable = { signal: 'object' }

/** Returns a TypeError for unknown or invalid options of a call; undefined if they are valid, or if there are none. */
export function optionProblem(options: object | undefined, table: OptionTable): unknown {
  for (const _ in options) {
    try {
      checkOptions(options, table)
      return undefined
    } catch (error) {
      return error
    }
  }
  return undefined
}
