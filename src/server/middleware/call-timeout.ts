import { errorResult } from '../../mcp/content/content.ts'
import { checkOptions, type OptionTableOf } from '../../util/options.ts'
import { type Clock, systemClock } from '../../util/time/clock.ts'
import { sleep } from '../../util/time/sleep.ts'
import type { Around } from '../core/around.ts'

/** The options of `callTimeout`. */
export interface TimeoutOptions {
  /** How long a call may take, in milliseconds. */
  readonly ms: number
  /** Other times for single tools, by name; 0 means no limit. */
  readonly tools?: Readonly<Record<string, number>>
  /** The clock; for tests. */
  readonly clock?: Clock
}

const table: OptionTableOf<TimeoutOptions> = { ms: 'ms', tools: { '*': 'ms' }, clock: 'object' }

/**
 * A middleware that ends calls of tools that take too long: `server.around('tools/call', callTimeout({ ms:
 * 30_000 }))`. `ctx.signal` of the handler is aborted, and the call is answered with a result that is an
 * error, which the model can read. What a handler does that ignores its signal is dropped.
 */
export function callTimeout(options: TimeoutOptions): Around<'tools/call'> {
  checkOptions(options, table)
  const { clock = systemClock } = options
  const byTool = new Map(Object.entries(options.tools ?? {}))
  return async (next, params) => {
    const ms = byTool.get(params.name) ?? options.ms
    if (ms === 0) return next()
    const timer = new AbortController()
    const message = `The tool "${params.name}" did not finish within ${ms} ms`
    const { done, wake } = sleep(ms, clock)
    const called = next(params, { signal: timer.signal })
    try {
      const first = await Promise.race([called, done])
      if (first !== undefined) return first
    } finally {
      wake()
    }
    timer.abort(new Error(message))
    called.catch(() => {})
    return errorResult(new Error(message))
  }
}
