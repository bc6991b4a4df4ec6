import type { Client } from '../../client/client.ts'
import { errorWords } from '../../util/error-words.ts'
import { limits } from '../../util/limits/limits.ts'
import { numberOf } from '../arguments.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { argumentsOf } from '../input/tool-arguments.ts'
import type { Invocation, Run } from '../invocation.ts'
import { withTarget } from '../target/connect.ts'
import { oneLine } from '../terminal.ts'

/** One call of what is measured: undefined if it went well, else what went wrong. */
type Call = () => Promise<string | undefined>

/** What was measured. Times are in milliseconds. */
export interface Measured {
  readonly calls: number
  readonly errors: number
  readonly firstError: string | undefined
  readonly seconds: number
  readonly callsPerSecond: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

/** Measures how many calls a server answers, and how long each takes. */
export const run: Run = async invocation => {
  const { input, terminal, signal } = invocation
  const wanted = {
    seconds: numberOf('seconds', input.value('seconds') ?? `${limits.benchSeconds.default}`, {
      most: 3600,
    }),
    concurrency: numberOf(
      'concurrency',
      input.value('concurrency') ?? `${limits.benchConcurrency.default}`,
      { most: 10_000, isWhole: true },
    ),
  }
  return withTarget(invocation, async ({ client, operands }) => {
    if (operands.length > 0) throw new UsageError(`"${operands[0]}" means nothing here; say --tool`)
    const { what, call } = await chosen(client, invocation)
    const first = await call()
    if (first !== undefined)
      throw new Error(`${what} fails, so there is nothing to measure: ${first}`)
    const warmUpSeconds = Math.min(1, wanted.seconds / 10)
    await measure(call, { ...wanted, seconds: warmUpSeconds, signal })
    const bar = terminal.progress(what)
    const result = await measure(call, {
      ...wanted,
      signal,
      onTick: (part, calls) => bar.step(part, `${calls} calls`),
    })
    bar.end()
    if (input.has('json')) {
      const { name, version, revision } = client.server
      const server = { name, version, revision: revision.name }
      terminal.json({ what, server, concurrency: wanted.concurrency, warmUpSeconds, ...result })
    } else {
      terminal.line(report(what, wanted.concurrency, warmUpSeconds, result))
    }
    return result.errors > 0 ? exitCodes.failed : exitCodes.ok
  })
}

async function chosen(
  client: Client,
  { input, stdin, signal }: Invocation,
): Promise<{ readonly what: string; readonly call: Call }> {
  const { capabilities, revision } = client.server
  const tool = input.value('tool')
  if (tool !== undefined) {
    const args = await argumentsOf({ operands: [], args: input.value('args'), stdin })
    const call = async () => {
      const { isError, text } = await client.call(tool, args, { signal })
      return isError ? oneLine(text, 300) : undefined
    }
    return { what: `tools/call ${oneLine(tool, 128)}`, call: caught(call, signal) }
  }
  if (input.has('args')) throw new UsageError('--args belongs to --tool')
  const method = revision.methods.has('ping')
    ? 'ping'
    : capabilities.tools
      ? 'tools/list'
      : 'server/discover'
  const call = async () => {
    await client.request(method, {}, { signal, fresh: true })
    return undefined
  }
  return { what: method, call: caught(call, signal) }
}

function caught(call: Call, signal: AbortSignal): Call {
  return async () => {
    try {
      return await call()
    } catch (error) {
      signal.throwIfAborted()
      return oneLine(errorWords(error), 300)
    }
  }
}

interface Measuring {
  readonly seconds: number
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly onTick?: (part: number, calls: number) => void
}

/** Keeps so many calls under way for so long. Calls under way at the end are waited for and count. */
export async function measure(call: Call, measuring: Measuring): Promise<Measured> {
  const { seconds, concurrency, signal, onTick } = measuring
  const times: number[] = []
  let errors = 0
  let firstError: string | undefined
  let lastTick = 0
  const begin = performance.now()
  const end = begin + seconds * 1000
  const worker = async (): Promise<void> => {
    for (let now = performance.now(); now < end; now = performance.now()) {
      signal.throwIfAborted()
      const error = await call()
      times.push(performance.now() - now)
      if (error !== undefined) {
        errors++
        firstError ??= error
      }
      const tenth = Math.floor(((performance.now() - begin) / (seconds * 1000)) * 10)
      if (tenth > lastTick && tenth <= 10) {
        lastTick = tenth
        onTick?.(tenth / 10, times.length)
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  const elapsed = (performance.now() - begin) / 1000
  const sorted = Float64Array.from(times).sort()
  return {
    calls: times.length,
    errors,
    firstError,
    seconds: elapsed,
    callsPerSecond: times.length / elapsed,
    p50: percentile(sorted, 50),
    p90: percentile(sorted, 90),
    p99: percentile(sorted, 99),
    max: sorted.at(-1) ?? 0,
  }
}

/** The value that so many percent of the sorted values do not exceed: one that was measured. */
export function percentile(sorted: ArrayLike<number>, percent: number): number {
  const at = Math.ceil((percent / 100) * sorted.length) - 1
  return sorted[Math.min(Math.max(at, 0), sorted.length - 1)] ?? 0
}

function report(
  what: string,
  concurrency: number,
  warmUpSeconds: number,
  result: Measured,
): string {
  const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`
  const { calls, errors, firstError, seconds, callsPerSecond, p50, p90, p99, max } = result
  const failures = errors === 0 ? 'none' : `${errors}, the first: ${firstError}`
  return [
    `${what}, ${concurrency} at a time on one connection`,
    `  ${Math.round(callsPerSecond)} calls/s (${calls} in ${seconds.toFixed(1)} s)`,
    `  p50 ${ms(p50)}, p90 ${ms(p90)}, p99 ${ms(p99)}, longest ${ms(max)}`,
    `  errors: ${failures}`,
    `After ${warmUpSeconds.toFixed(1)} s of warming up, which do not count. The times are those of this`,
    'client and the way to the server too, and both may share this machine: compare only runs that do.',
  ].join('\n')
}
