import { pollOptions } from '../../support/poll-options.ts'
import type { Up } from '../up.ts'
import { type CountedRequest, type MixedCaller, requestsOf } from './operations.ts'

/** The methods whose requests the operations make, and nothing else. */
const methods = ['tools/call', 'tools/list', 'resources/read']

/** The operations that were completed, and what the counters of the router must be because of them. */
export class MixedLedger {
  /** Completed operations, by name. */
  readonly done: Record<string, number> = {}
  /** Sessions that were opened and never ended; undefined if some of them may have expired. */
  sessions: number | undefined
  readonly #expected = new Map<string, number>()

  add(operation: string, era: MixedCaller['era']): void {
    this.done[operation] = (this.done[operation] ?? 0) + 1
    for (const request of requestsOf(operation, era)) {
      for (const series of seriesOf(request)) {
        this.#expected.set(series, (this.#expected.get(series) ?? 0) + 1)
      }
    }
  }

  /**
   * Returns the counters that differ from the ledger, one line each. A call that its caller gave up may end
   * later at the router, so differences have time to disappear.
   */
  async compare(router: Up): Promise<readonly string[]> {
    const until = performance.now() + pollOptions.timeout
    for (;;) {
      const differences = this.#differences(await metricsOf(router))
      if (differences.length === 0 || performance.now() > until) return differences
      await new Promise(resolve => setTimeout(resolve, pollOptions.interval))
    }
  }

  #differences(metrics: ReadonlyMap<string, number>): readonly string[] {
    const counted = new Map([...metrics].filter(([series]) => isOfLedger(series)))
    const expected = new Map(this.#expected)
    if (this.sessions === undefined) counted.delete('trunkline_sessions')
    else expected.set('trunkline_sessions', this.sessions)
    return [...new Set([...counted.keys(), ...expected.keys()])].flatMap(series => {
      const found = counted.get(series) ?? 0
      const ledger = expected.get(series) ?? 0
      return found === ledger ? [] : [`${series}: ${found} counted, ${ledger} in the ledger`]
    })
  }
}

/** Returns the series in which a request is counted. */
function seriesOf({ method, server, outcome, tool }: CountedRequest): readonly string[] {
  const all = [
    `trunkline_calls_total{server="${server}",method="${method}",outcome="${outcome}"}`,
    `trunkline_call_duration_seconds_count{server="${server}",method="${method}"}`,
  ]
  const isTool = tool !== undefined
  if (isTool)
    all.push(`trunkline_tool_call_duration_seconds_count{server="${server}",tool="${tool}"}`)
  if (isTool && outcome === 'tool-error')
    all.push(`trunkline_tool_errors_total{server="${server}",tool="${tool}"}`)
  if (outcome === 'error')
    all.push(`trunkline_call_errors_total{server="${server}",kind="tool_not_found"}`)
  return all
}

/** Whether the ledger says what a series must be; 0, if it says nothing. */
function isOfLedger(series: string): boolean {
  const name = series.replace(/\{.*/, '')
  if (exact.has(name)) return true
  const method = /method="([^"]*)"/.exec(series)?.[1]
  return byMethod.has(name) && method !== undefined && methods.includes(method)
}

const byMethod: ReadonlySet<string> = new Set([
  'trunkline_calls_total',
  'trunkline_call_duration_seconds_count',
])

const exact: ReadonlySet<string> = new Set([
  'trunkline_tool_call_duration_seconds_count',
  'trunkline_tool_errors_total',
  'trunkline_call_errors_total',
  'trunkline_calls_in_flight',
  'trunkline_queue_length',
  'trunkline_call_retries_total',
  'trunkline_limit_refusals_total',
  'trunkline_sessions',
])

/** Reads the metrics of a router: the value of each series. */
export async function metricsOf({ address }: Up): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(new URL('/metrics', address))
  const lines = (await response.text()).split('\n').filter(line => /^[a-z]/.test(line))
  return new Map(
    lines.map(line => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1))] as const
    }),
  )
}
