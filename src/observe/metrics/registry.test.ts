import { describe, expect, it } from 'vitest'
import { limits } from '../../util/limits/limits.ts'
import { writeMetrics } from './prometheus.ts'
import { MetricRegistry } from './registry.ts'

const counter = (name: string, labels: readonly string[] = []) =>
  ({ name, type: 'counter', help: 'h', labels }) as const

function linesOf(registry: MetricRegistry, name: string): string[] {
  return registry
    .text()
    .split('\n')
    .filter(line => line.startsWith(name))
}

describe('the text for Prometheus', () => {
  it('has help, type and samples, and ends with a newline', () => {
    const registry = new MetricRegistry()
    registry.number(counter('a_total')).at().value += 2
    registry
      .number({ name: 'b', type: 'gauge', help: 'h', labels: ['x', 'y'] })
      .at('1', '2').value = 0.5
    expect(registry.text()).toBe(
      [
        '# HELP a_total h',
        '# TYPE a_total counter',
        'a_total 2',
        '# HELP b h',
        '# TYPE b gauge',
        'b{x="1",y="2"} 0.5',
        '',
      ].join('\n'),
    )
  })

  it('has cumulative buckets, of which the last holds everything', () => {
    const registry = new MetricRegistry({ buckets: [0.1, 1] })
    const family = registry.histogram({ name: 'd', type: 'histogram', help: 'h', labels: ['m'] })
    for (const value of [0.05, 0.1, 0.5, 7]) family.at('x').observe(value)
    expect(linesOf(registry, 'd')).toEqual([
      'd_bucket{m="x",le="0.1"} 2',
      'd_bucket{m="x",le="1"} 3',
      'd_bucket{m="x",le="+Inf"} 4',
      'd_sum{m="x"} 7.65',
      'd_count{m="x"} 4',
    ])
  })

  it.each([
    ['a backslash', 'a\\b', 'a\\\\b'],
    ['a quote', 'a"b', 'a\\"b'],
    ['a line feed', 'a\nb 1\n', 'a\\nb 1\\n'],
    ['half a character', 'a\ud800', 'a\ufffd'],
    ['what a plain object has', '__proto__', '__proto__'],
  ])('keeps %s in a label from meaning anything', (_, value, written) => {
    const registry = new MetricRegistry()
    registry.number(counter('a_total', ['x'])).at(value).value = 1
    expect(linesOf(registry, 'a_total')).toEqual([`a_total{x="${written}"} 1`])
  })

  it('escapes help, and writes numbers that JSON does not have', () => {
    const sample = (value: number) => ({ suffix: '', labels: [], value })
    const values = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 1e21]
    const definition = { name: 'a', type: 'gauge', help: 'b\\c\nd "e"' }
    expect(writeMetrics([{ definition, samples: values.map(sample) }])).toBe(
      '# HELP a b\\\\c\\nd "e"\n# TYPE a gauge\na +Inf\na -Inf\na NaN\na 1e+21\n',
    )
  })
})

describe('a registry', () => {
  it('refreshes metrics at every scrape', () => {
    const registry = new MetricRegistry()
    const series = registry.number(counter('a_total')).at()
    registry.onScrape(() => {
      series.value += 1
    })
    registry.text()
    expect(linesOf(registry, 'a_total')).toEqual(['a_total 2'])
  })

  it.each([
    ['an empty name', '', []],
    ['a name with a space', 'a b', []],
    ['a label with a hyphen', 'a', ['b-c']],
    ['the label of histograms', 'a', ['le']],
    ['a label of Prometheus', 'a', ['__name__']],
  ])('refuses %s', (_, name, labels) => {
    expect(() => new MetricRegistry().number(counter(name, labels))).toThrow(TypeError)
  })

  it('refuses duplicate names, missing label values, and buckets out of order', () => {
    const registry = new MetricRegistry()
    const family = registry.number(counter('a_total', ['x']))
    expect(() => registry.number(counter('a_total'))).toThrow('metric a_total already exists')
    expect(() => family.at()).toThrow('expected one value for each label: x')
    expect(() => new MetricRegistry({ buckets: [1, 1] })).toThrow('buckets')
  })

  it('counts values of a label beyond the limit under other', () => {
    const registry = new MetricRegistry()
    const family = registry.number(counter('a_total', ['x']))
    const most = limits.metricLabelValues.default
    for (let i = 0; i < most + 10; i++) family.at(`v${i}`).value += 1
    const lines = linesOf(registry, 'a_total')
    expect(lines).toHaveLength(most + 1)
    expect(lines).toContain('a_total{x="other"} 10')
    family.at('v0').value += 1
    expect(linesOf(registry, 'a_total')).toContain('a_total{x="v0"} 2')
  })

  it('counts combinations beyond the limit under other in all labels', () => {
    const registry = new MetricRegistry()
    const family = registry.number(counter('a_total', ['x', 'y']))
    const most = limits.metricSeries.default
    for (let x = 0; x < 100; x++) for (let y = 0; y < 100; y++) family.at(`${x}`, `${y}`).value += 1
    const lines = linesOf(registry, 'a_total')
    expect(lines).toHaveLength(most + 1)
    expect(lines).toContain(`a_total{x="other",y="other"} ${100 * 100 - most}`)
  })

  it('counts a value that is too long under other', () => {
    const registry = new MetricRegistry()
    const family = registry.number(counter('a_total', ['x']))
    const most = limits.metricLabelLength.default
    family.at('a'.repeat(most)).value += 1
    family.at('a'.repeat(most + 1)).value += 1
    const lengths = linesOf(registry, 'a_total').map(line => line.length - 'a_total{x=""} 1'.length)
    expect(lengths).toEqual([most, 'other'.length])
  })

  it('distinguishes values that would be equal if they were joined', () => {
    const registry = new MetricRegistry()
    const family = registry.number(counter('a_total', ['x', 'y']))
    expect(family.at('a,b', 'c')).not.toBe(family.at('a', 'b,c'))
  })

  it('removes series, which makes room for others', () => {
    const registry = new MetricRegistry({ maxLabelValues: 2, maxSeries: 3 })
    const family = registry.number(counter('a_total', ['x', 'y']))
    family.at('a', '1').value = 1
    family.at('a', '2').value = 1
    family.at('b', '1').value = 1
    family.remove('x', 'a')
    family.at('c', '2').value = 1
    expect(linesOf(registry, 'a_total')).toEqual([
      'a_total{x="b",y="1"} 1',
      'a_total{x="c",y="2"} 1',
    ])
  })
})
