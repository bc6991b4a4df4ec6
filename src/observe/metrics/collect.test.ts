import { afterEach, beforeEach, expect, it } from 'vitest'
import { RpcError } from '../../jsonrpc/error.ts'
import { limits } from '../../util/limits/limits.ts'
import { Traffic } from '../../util/traffic.ts'
import { CallSpan } from '../call.ts'
import { events } from '../events.ts'
import { collect } from './collect.ts'
import { MetricRegistry } from './registry.ts'
import { metricTable } from './table.ts'

let registry = new MetricRegistry()
let end = () => {}
beforeEach(() => {
  registry = new MetricRegistry()
  end = collect(registry, { droppedLines: () => 3 })
})
afterEach(() => end())

/** The lines of our metrics without those of the process; histograms by their counts. */
function numbers(): string[] {
  const lines = registry.text().split('\n')
  return lines.filter(line => /^trunkline_/.test(line) && !/_bucket|_sum|_lag_|_build_/.test(line))
}

function called(method: string, name: string | undefined, end: (call: CallSpan) => void): void {
  end(new CallSpan({ method, name, server: 'files' }))
}

/** Metrics without labels are there from the start. */
const unusedClusterMetrics = [
  'trunkline_cluster_forward_duration_seconds_count 0',
  'trunkline_cluster_handed_off_sessions_total 0',
  'trunkline_cluster_fenced_sessions_total 0',
]

it('calls are counted by outcome, by method and by tool', () => {
  called('tools/call', 'echo', call => call.succeed({ content: [] }))
  called('tools/call', 'echo', call => {
    call.retries = 2
    call.succeed({ isError: true })
  })
  called('tools/call', 'other tool', call => {
    call.instance = '0'
    call.fail(new RpcError(-1, 'x', { kind: 'timeout' }))
  })
  called('tools/list', undefined, call => call.succeed({ tools: [] }))
  called('prompts/get', 'p', call => call.succeed({ resultType: 'input_required' }))
  called('tools/call', 'echo', call => call.fail(new Error('gone'), true))
  expect(numbers()).toEqual([
    'trunkline_calls_total{server="files",method="tools/call",outcome="ok"} 1',
    'trunkline_calls_total{server="files",method="tools/call",outcome="tool-error"} 1',
    'trunkline_calls_total{server="files",method="tools/call",outcome="error"} 1',
    'trunkline_calls_total{server="files",method="tools/call",outcome="cancelled"} 1',
    'trunkline_calls_total{server="files",method="tools/list",outcome="ok"} 1',
    'trunkline_calls_total{server="files",method="prompts/get",outcome="ok"} 0',
    'trunkline_calls_total{server="files",method="prompts/get",outcome="input-required"} 1',
    'trunkline_call_errors_total{server="files",kind="timeout"} 1',
    'trunkline_call_duration_seconds_count{server="files",method="tools/call"} 4',
    'trunkline_call_duration_seconds_count{server="files",method="tools/list"} 1',
    'trunkline_call_duration_seconds_count{server="files",method="prompts/get"} 1',
    'trunkline_tool_call_duration_seconds_count{server="files",tool="echo"} 3',
    'trunkline_tool_call_duration_seconds_count{server="files",tool="other tool"} 1',
    'trunkline_tool_errors_total{server="files",tool="echo"} 1',
    'trunkline_tool_errors_total{server="files",tool="other tool"} 1',
    'trunkline_calls_in_flight{server="files"} 0',
    'trunkline_call_retries_total{server="files"} 2',
    'trunkline_sessions 0',
    'trunkline_session_duration_seconds_count 0',
    ...unusedClusterMetrics,
    'trunkline_log_lines_dropped_total 3',
  ])
})

it.each(['method_not_found', 'tool_not_found', 'rate_limited', 'not_initialized', undefined])(
  'names that only callers have thought of use up no room, refused as %s',
  kind => {
    const refusal = new RpcError(-32000, 'x', { kind })
    for (let i = 0; i < 500; i++) {
      called(`made/up${i}`, undefined, call => call.fail(refusal))
      called(`made/up${i}`, undefined, call => call.fail(new Error('gone'), true))
      called('tools/call', `made up ${i}`, call => call.fail(refusal))
    }
    const lines = numbers()
    expect(lines).toContain(
      'trunkline_calls_total{server="files",method="other",outcome="error"} 500',
    )
    expect(lines).toContain(
      'trunkline_calls_total{server="files",method="tools/call",outcome="error"} 500',
    )
    expect(lines.join('\n')).not.toMatch(/made/)
  },
)

it('a tool that has succeeded once is counted by its name when it is refused too', () => {
  called('tools/call', 'echo', call => call.succeed({ content: [] }))
  called('tools/call', 'other', call => call.succeed({ content: [] }))
  called('tools/call', 'echo', call => call.fail(new RpcError(-1, 'x', { kind: 'rate_limited' })))
  expect(numbers()).toContain('trunkline_tool_errors_total{server="files",tool="echo"} 1')
})

it('tools beyond the limit are counted under other', () => {
  const most = limits.metricSeries.default
  for (let i = 0; i < most + 5; i++) called('tools/call', `t${i}`, call => call.succeed({}))
  const most2 = limits.metricLabelValues.default
  expect(numbers()).toContain(
    `trunkline_tool_call_duration_seconds_count{server="files",tool="other"} ${most + 5 - most2}`,
  )
})

it('calls are in flight from start to finish', () => {
  const call = new CallSpan({ method: 'x' })
  const before = 'trunkline_calls_in_flight{server=""} 1'
  expect(numbers()).toContain(before)
  call.succeed(null)
  expect(numbers()).toContain('trunkline_calls_in_flight{server=""} 0')
})

it('a call is in flight at the server it was sent to, once that is known', () => {
  const call = new CallSpan({ method: 'x' })
  call.server = 'files'
  call.server = 'files'
  expect(numbers()).toContain('trunkline_calls_in_flight{server=""} 0')
  expect(numbers()).toContain('trunkline_calls_in_flight{server="files"} 1')
  call.succeed(null)
  expect(numbers()).toContain('trunkline_calls_in_flight{server="files"} 0')
  expect(numbers()).toContain('trunkline_calls_total{server="files",method="x",outcome="ok"} 1')
})

it('a call that started earlier is not counted as in flight', () => {
  end()
  const endListening = events.callFinished.subscribe(() => {})
  const call = new CallSpan({ method: 'x' })
  registry = new MetricRegistry()
  end = collect(registry)
  call.server = 'files'
  call.succeed(null)
  endListening()
  expect(numbers()).toContain('trunkline_calls_total{server="files",method="x",outcome="ok"} 1')
  const inFlight = numbers().filter(line => line.includes('in_flight'))
  expect(inFlight).toEqual(['trunkline_calls_in_flight{server="files"} 0'])
})

it('instances, breakers, sessions, limits, tools, server requests and reloads are counted', () => {
  const a = { server: 'files', instance: 'a' }
  const b = { server: 'files', instance: 'b' }
  events.instanceStarted.publish(a)
  events.instanceStarted.publish(b)
  events.instanceStarted.publish(b)
  events.instanceExited.publish({ ...a, reason: 'exit' })
  events.instanceRestarted.publish({ ...a, attempt: 1 })
  events.instanceQuarantined.publish({ ...a, reason: 'too often' })
  events.breakerChanged.publish({ ...a, from: 'closed', to: 'open' })
  events.breakerChanged.publish({ ...a, from: 'open', to: 'half-open' })
  events.queueChanged.publish({ server: 'files', length: 4 })
  events.sessionOpened.publish({ session: 1 })
  events.sessionOpened.publish({ session: 2 })
  events.sessionClosed.publish({ session: 1, durationMs: 1500 })
  events.limitRefused.publish({ limit: 'perSecond', scope: 'caller', server: 'files' })
  events.limitRefused.publish({ limit: 'concurrent', scope: 'all' })
  events.toolChanged.publish({ server: 'files', tool: 'x', change: 'changed' })
  events.serverRequestSent.publish({ server: 'files', method: 'elicitation/create' })
  events.configReloaded.publish({ ok: false })
  expect(numbers()).toEqual([
    'trunkline_queue_length{server="files"} 4',
    'trunkline_limit_refusals_total{server="files",scope="caller",limit="perSecond"} 1',
    'trunkline_limit_refusals_total{server="",scope="all",limit="concurrent"} 1',
    'trunkline_breaker_state{server="files",instance="a"} 1',
    'trunkline_breaker_opened_total{server="files"} 1',
    'trunkline_instances_up{server="files"} 1',
    'trunkline_instance_restarts_total{server="files"} 1',
    'trunkline_instance_quarantines_total{server="files"} 1',
    'trunkline_sessions 1',
    'trunkline_session_duration_seconds_count 1',
    'trunkline_tool_changes_total{server="files",change="changed"} 1',
    'trunkline_server_requests_total{server="files",method="elicitation/create"} 1',
    'trunkline_config_reloads_total{outcome="error"} 1',
    ...unusedClusterMetrics,
    'trunkline_log_lines_dropped_total 3',
  ])
  events.configReloaded.publish({ ok: true, removed: ['files'] })
  expect(numbers().join('\n')).not.toMatch(/_up\{|_state\{|_length\{/)
})

it('the process has metrics', () => {
  const text = registry.text()
  const value = (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(1e6)
  expect(value('nodejs_heap_size_used_bytes')).toBeGreaterThan(1e5)
  expect(value('process_cpu_seconds_total')).toBeGreaterThan(0)
  if (process.platform === 'linux') {
    expect(value('process_open_fds')).toBeGreaterThan(2)
    expect(value('process_max_fds')).toBeGreaterThan(value('process_open_fds'))
  }
  expect(value('process_start_time_seconds')).toBeGreaterThan(1.7e9)
  for (const stat of ['mean', 'p99', 'max']) {
    expect(value(`trunkline_event_loop_lag_seconds\\{stat="${stat}"\\}`)).toBeGreaterThanOrEqual(0)
  }
  expect(text).toMatch(/^trunkline_build_info\{version=".+",node="v.+"\} 1$/m)
})

it('bytes are read at each scrape', () => {
  end()
  const measured = (bytesRead: number): Traffic => {
    const traffic = new Traffic()
    traffic.watch({ bytesRead, bytesWritten: bytesRead + 1, once: () => {} })
    return traffic
  }
  const endpoint = {
    traffic: measured(10),
    upstreamTraffic: () => [['files', measured(20)] as const],
  }
  registry = new MetricRegistry()
  end = collect(registry, { endpoint, server: 'here' })
  expect(numbers().filter(line => line.includes('bytes'))).toEqual([
    'trunkline_received_bytes_total{server="here"} 10',
    'trunkline_sent_bytes_total{server="here"} 11',
    'trunkline_upstream_received_bytes_total{server="files"} 20',
    'trunkline_upstream_sent_bytes_total{server="files"} 21',
  ])
})

it('every metric of the table is written, and nothing else', () => {
  const named = Array.from(registry.text().matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name, type]) => [
    name,
    type,
  ])
  expect(named).toEqual(Object.entries(metricTable).map(([name, { type }]) => [name, type]))
})

it('it unsubscribes when it is stopped', () => {
  end()
  expect(Object.values(events).filter(({ hasSubscribers }) => hasSubscribers)).toEqual([])
})
