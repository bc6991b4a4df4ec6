import { readdirSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { version } from '../../util/version.ts'
import type { MetricRegistry } from './registry.ts'
import type { MetricFamilies } from './table.ts'

/** Updates the process metrics at every scrape. Returns a function that stops measuring the event loop. */
export function measureProcess(
  registry: MetricRegistry,
  { number }: MetricFamilies,
  droppedLines: () => number,
): () => void {
  number('trunkline_build_info').at(version, process.version).value = 1
  number('process_start_time_seconds').at().value = performance.timeOrigin / 1000
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  const lag = number('trunkline_event_loop_lag_seconds')
  registry.onScrape(() => {
    lag.at('mean').value = lateness(delays.mean)
    lag.at('p99').value = lateness(delays.percentile(99))
    lag.at('max').value = lateness(delays.max)
    // Measured from one scrape to the next: a stall of last week says nothing about now.
    delays.reset()
    const { rss, heapUsed } = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    number('process_resident_memory_bytes').at().value = rss
    number('nodejs_heap_size_used_bytes').at().value = heapUsed
    number('process_cpu_seconds_total').at().value = (user + system) / 1e6
    const files = openFiles()
    number('process_open_fds').at().value = files.open
    number('process_max_fds').at().value = files.max
    number('trunkline_log_lines_dropped_total').at().value = droppedLines()
  })
  return () => void delays.disable()
}

const resolutionMs = 20

/** Returns the number of open file handles and their limit; NaN if the system does not report them. */
function openFiles(): { readonly open: number; readonly max: number } {
  try {
    const [, max] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    // Reading the folder needs one itself.
    return { open: readdirSync('/proc/self/fd').length - 1, max: Number(max) }
  } catch {
    return { open: Number.NaN, max: Number.NaN }
  }
}

/** Converts a measured delay in nanoseconds to the lateness in seconds; 0 if there is no measurement. */
function lateness(nanoseconds: number): number {
  if (!Number.isFinite(nanoseconds)) return 0
  return Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000)
}
