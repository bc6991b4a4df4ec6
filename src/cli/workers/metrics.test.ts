import { expect, it } from 'vitest'
import { MetricRegistry } from '../../observe/metrics/registry.ts'
import { mergedMetrics } from './metrics.ts'

function metrics(calls: number): string {
  const registry = new MetricRegistry({ buckets: [1] })
  const counter = {
    name: 'calls_total',
    type: 'counter',
    help: 'Calls.',
    labels: ['tool'],
  } as const
  registry.number(counter).at('a "b" {c} d').value = calls
  registry.number({ name: 'open', type: 'gauge', help: 'Open.', labels: [] }).at().value = 1
  return registry.text()
}

it('gives every sample the number of its worker, and every metric one head', () => {
  expect(
    mergedMetrics([
      [1, metrics(3)],
      [2, metrics(5)],
    ]),
  ).toBe(`# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{worker="1",tool="a \\"b\\" {c} d"} 3
calls_total{worker="2",tool="a \\"b\\" {c} d"} 5
# HELP open Open.
# TYPE open gauge
open{worker="1"} 1
open{worker="2"} 1
`)
})

it('keeps a metric that only one worker has', () => {
  expect(
    mergedMetrics([
      [1, ''],
      [2, '# HELP a A.\n# TYPE a gauge\na 1\n'],
    ]),
  ).toBe('# HELP a A.\n# TYPE a gauge\na{worker="2"} 1\n')
})
