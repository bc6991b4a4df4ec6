import { methodRow } from '../../mcp/methods.ts'
import { limits } from '../../util/limits/limits.ts'
import type { CallCounters } from '../counters.ts'
import type { CallFinished, CallStarted } from '../events.ts'
import { type HistogramSeries, other, type Series } from './registry.ts'
import type { MetricFamilies } from './table.ts'

/** The series of the calls to one server, with one method and one tool. */
interface Slot {
  readonly server: string
  readonly method: string
  readonly tool: string | undefined
  readonly ok: Series
  readonly durations: HistogramSeries
  readonly toolDurations: HistogramSeries | undefined
}

/**
 * Updates the call metrics. The series of a call are found without a lookup if the previous call had the
 * same server, method and tool, and with three map lookups otherwise.
 */
export class CallMetrics implements CallCounters {
  readonly #metrics: MetricFamilies
  readonly #sinceMs = performance.now()
  readonly #slots = new Map<string, Map<string, Map<string, Slot>>>()
  #slotCount = 0
  #last: Slot | undefined
  readonly #inFlight = new Map<string, Series>()
  #lastServer: string | undefined
  #lastInFlight: Series | undefined

  constructor(metrics: MetricFamilies) {
    this.#metrics = metrics
  }

  started({ server = '', startedMs }: CallStarted): void {
    // Servers may create a span late: the call may have started before these metrics were collected.
    if (startedMs >= this.#sinceMs) this.#inFlightOf(server).value += 1
  }

  rerouted(from: string, to: string, call: CallStarted): void {
    if (call.startedMs < this.#sinceMs) return
    this.#inFlightOf(from).value -= 1
    this.#inFlightOf(to).value += 1
  }

  finished(call: CallFinished): void {
    const { server = '', method, name, outcome, retries = 0 } = call
    // A call that started before these metrics were collected was not added to the gauge.
    if (call.startedMs >= this.#sinceMs) this.#inFlightOf(server).value -= 1
    const slot = this.#slotOf(server, method, name, isKnown(call))
    measure(slot, call.durationMs)
    if (outcome === 'ok') slot.ok.value += 1
    else this.#count(call, slot)
    if (retries > 0)
      this.#metrics.number('trunkline_call_retries_total').at(server).value += retries
  }

  completed(server: string, method: string, name: string | undefined, durationMs: number): void {
    const slot = this.#slotOf(server, method, name, true)
    measure(slot, durationMs)
    slot.ok.value += 1
  }

  #count({ outcome, kind = other }: CallFinished, { server, method, tool }: Slot): void {
    const { number } = this.#metrics
    number('trunkline_calls_total').at(server, method, outcome).value += 1
    if (outcome === 'error') number('trunkline_call_errors_total').at(server, kind).value += 1
    if (tool !== undefined && (outcome === 'error' || outcome === 'tool-error')) {
      number('trunkline_tool_errors_total').at(server, tool).value += 1
    }
  }

  #inFlightOf(server: string): Series {
    if (server === this.#lastServer && this.#lastInFlight !== undefined) return this.#lastInFlight
    let series = this.#inFlight.get(server)
    if (series === undefined) {
      series = this.#metrics.number('trunkline_calls_in_flight').at(server)
      this.#inFlight.set(server, series)
    }
    this.#lastServer = server
    this.#lastInFlight = series
    return series
  }

  #slotOf(server: string, method: string, name: string | undefined, isKnown: boolean): Slot {
    const tool = method === 'tools/call' ? name : undefined
    const last = this.#last
    if (last?.method === method && last.tool === tool && last.server === server) return last
    const known = this.#slots
      .get(server)
      ?.get(method)
      ?.get(tool ?? '')
    // Names that a caller made up must not use up the series of those that exist.
    if (known === undefined && !isKnown) {
      return this.#make(server, methodRow(method) === undefined ? other : method, undefined)
    }
    const slot = known ?? this.#keep(server, method, tool)
    this.#last = slot
    return slot
  }

  #keep(server: string, method: string, tool: string | undefined): Slot {
    const slot = this.#make(server, method, tool)
    if (this.#slotCount >= limits.metricSeries.default) return slot
    this.#slotCount += 1
    const methods = this.#slots.get(server) ?? new Map<string, Map<string, Slot>>()
    const tools = methods.get(method) ?? new Map<string, Slot>()
    this.#slots.set(server, methods.set(method, tools.set(tool ?? '', slot)))
    return slot
  }

  #make(server: string, method: string, tool: string | undefined): Slot {
    const { number, histogram } = this.#metrics
    this.#inFlightOf(server)
    return {
      server,
      method,
      tool,
      ok: number('trunkline_calls_total').at(server, method, 'ok'),
      durations: histogram('trunkline_call_duration_seconds').at(server, method),
      toolDurations:
        tool === undefined
          ? undefined
          : histogram('trunkline_tool_call_duration_seconds').at(server, tool),
    }
  }
}

function measure({ durations, toolDurations }: Slot, durationMs: number): void {
  const seconds = durationMs / 1000
  durations.observe(seconds)
  toolDurations?.observe(seconds)
}

/**
 * Whether the method and the tool of a call certainly exist: the call has a result, or was sent to an
 * instance. A refused call may have named anything.
 */
function isKnown({ outcome, instance }: CallFinished): boolean {
  return (outcome !== 'error' && outcome !== 'cancelled') || instance !== undefined
}
