import type { Client } from '../../client/client.ts'
import { limits } from '../../util/limits/limits.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { parseNumber } from '../arguments.ts'
import { exitCodes, UsageError } from '../exit.ts'
import { argumentsOf } from '../input/tool-arguments.ts'
import type { Invocation, Run } from '../invocation.ts'
import { withTarget } from '../target/connect.ts'
import { oneLine } from '../terminal.ts'

/** One measured call. Resolves with undefined on success, else with the error text. */
type Call = () => Promise<string | undefined>

/** Result of a measurement. Latencies are in milliseconds. */
export interface BenchResult {
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

/** `trunkline bench`: measures throughput and latency of a server. */
export const run: Run = async invocation => {
  const { input, terminal, signal } = invocation
  const load = {
    seconds: parseNumber('seconds', input.value('seconds') ?? `${limits.benchSeconds.default}`, {
      max: 3600,
    }),
    concurrency: parseNumber(
      'concurrency',
      input.value('concurrency') ?? `${limits.benchConcurrency.default}`,
      { max: 10_000, integer: true },
    ),
  }
  return withTarget(invocation, async ({ client, operands }) => {
    if (operands.length > 0)
      throw new UsageError(`unexpected argument "${operands[0]}"; use --tool to choose a tool`)
    const { what, call } = await chooseCall(client, invocation)
    const first = await call()
    if (first !== undefined)
      throw new Error(`${what} fails, so there is nothing to measure: ${first}`)
    const warmUpSeconds = Math.min(1, load.seconds / 10)
    await measure(call, { ...load, seconds: warmUpSeconds, signal })
    const bar = terminal.progress(what)
    const result = await measure(call, {
      ...load,
      signal,
      onTick: (fraction, calls) => bar.update(fraction, `${calls} calls`),
    })
    bar.end()
    if (input.has('json')) {
      const { name, version, revision } = client.server
      const server = { name, version, revision: revision.name }
      terminal.json({ what, server, concurrency: load.concurrency, warmUpSeconds, ...result })
    } else {
      terminal.line(report(what, load.concurrency, warmUpSeconds, result))
    }
    return result.errors > 0 ? exitCodes.failed : exitCodes.ok
  })
}

/** Chooses what to measure: the tool of `--tool`, else the cheapest request that the server supports. */
async function chooseCall(
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
    return { what: `tools/call ${oneLine(tool, 128)}`, call: withErrorText(call, signal) }
  }
  if (input.has('args')) throw new UsageError('--args requires --tool')
  const method = revision.methods.has('ping')
    ? 'ping'
    : capabilities.tools
      ? 'tools/list'
      : 'server/discover'
  const call = async () => {
    await client.request(method, {}, { signal, fresh: true })
    return undefined
  }
  return { what: method, call: withErrorText(call, signal) }
}

function withErrorText(call: Call, signal: AbortSignal): Call {
  return async () => {
    try {
      return await call()
    } catch (error) {
      signal.throwIfAborted()
      return oneLine(errorMessage(error), 300)
    }
  }
}

interface MeasureOptions {
  readonly seconds: number
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly onTick?: (fraction: number, calls: number) => void
}

/** Keeps `concurrency` calls in flight for `seconds`. Waits for the calls in flight at the end and counts them. */
export async function measure(call: Call, options: MeasureOptions): Promise<BenchResult> {
  const { seconds, concurrency, signal, onTick } = options
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

/** Returns the nearest-rank percentile of sorted values, which is one of them; 0 if there are none. */
export function percentile(sorted: ArrayLike<number>, percent: number): number {
  const at = Math.ceil((percent / 100) * sorted.length) - 1
  return sorted[Math.min(Math.max(at, 0), sorted.length - 1)] ?? 0
}

function report(
  what: string,
  concurrency: number,
  warmUpSeconds: number,
  result: BenchResult,
): string {
  const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`
  const { calls, errors, firstError, seconds, callsPerSecond, p50, p90, p99, max } = result
  const failures = errors === 0 ? 'none' : `${errors}, the first: ${firstError}`
  return [
    `${what}, ${concurrency} at a time on one connection`,
    `  ${Math.round(callsPerSecond)} calls/s (${calls} in ${seconds.toFixed(1)} s)`,
    `  p50 ${ms(p50)}, p90 ${ms(p90)}, p99 ${ms(p99)}, max ${ms(max)}`,
    `  errors: ${failures}`,
    `A warm-up of ${warmUpSeconds.toFixed(1)} s is not counted. Latencies include this client and the transport; client and`,
    'server may share this machine, so compare only runs with the same setup.',
  ].join('\n')
}
