import { limits } from '../../util/limits/limits.ts'
import { type MetricSample, writeMetrics } from './prometheus.ts'

/** The value of a metric for one set of label values. It is changed in place, so that counting is an addition. */
export interface Series {
  /** The current value. */
  value: number
}

/** A histogram for one set of label values. */
export interface HistogramSeries {
  /** Adds a value. */
  observe(value: number): void
}

/** The definition of a metric. */
export interface MetricDefinition {
  /** The name of the metric, such as `trunkline_calls_total`. */
  readonly name: string
  /** A count that only grows, a value that goes up and down, or a distribution of values. */
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** One line about the metric, for people. */
  readonly help: string
  /** The names of its labels, in the order of the label values. */
  readonly labels: readonly string[]
}

/** Limits and buckets of a registry. */
export interface MetricRegistryOptions {
  /** Maximum number of different values of one label of a metric. */
  readonly maxLabelValues?: number
  /** Maximum number of combinations of label values of one metric. */
  readonly maxSeries?: number
  /** Upper bounds of the histogram buckets, in seconds, ascending. */
  readonly buckets?: readonly number[]
}

/** The current values of one series of a metric. */
export interface MetricReading {
  /** The values of its labels, in the order of the definition. */
  readonly labels: readonly string[]
  /** The value; of a histogram the number of observed values. */
  readonly value: number
  /** Of a histogram: how many values are in each bucket, and last how many are above all bounds. */
  readonly counts?: readonly number[]
  /** Of a histogram: the upper bounds of the buckets, in seconds. */
  readonly bounds?: readonly number[]
}

/** A metric with all its series. Label values beyond the limits are counted under `other`. */
export interface MetricFamily<S> {
  /** Returns the series of these label values, in the order of the labels; created on first use. */
  at(...values: string[]): S
  /** Removes every series with this value of a label. */
  remove(label: string, value: string): void
}

/** Upper bounds in seconds: those that OpenTelemetry recommends for MCP, and finer ones for local servers. */
export const defaultBuckets: readonly number[] = [
  0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300,
]

/** The label value under which values beyond the limits are counted. */
export const other = 'other'

/** Holds counters, gauges and histograms by name, and writes them as Prometheus text. */
export class MetricRegistry {
  readonly #options: MetricRegistryOptions
  readonly #families = new Map<string, LabeledFamily<Series | Histogram>>()
  readonly #definitions = new Map<string, MetricDefinition>()
  readonly #refreshers = new Set<() => void>()

  constructor(options: MetricRegistryOptions = {}) {
    this.#options = options
    const { buckets = defaultBuckets } = options
    if (!buckets.every((bound, at) => Number.isFinite(bound) && bound > (buckets[at - 1] ?? 0))) {
      throw new TypeError('option "buckets" must be an ascending array of numbers > 0')
    }
  }

  /** Adds a counter or a gauge. Throws a TypeError for an invalid name or one that is taken. */
  number(
    definition: MetricDefinition & { readonly type: 'counter' | 'gauge' },
  ): MetricFamily<Series> {
    return this.#add(definition, () => ({ value: 0 }))
  }

  /** Adds a histogram. Throws as `number` does. */
  histogram(
    definition: MetricDefinition & { readonly type: 'histogram' },
  ): MetricFamily<HistogramSeries> {
    const { buckets = defaultBuckets } = this.#options
    return this.#add(definition, () => new Histogram(buckets))
  }

  /** Adds a function that `text` calls first, for metrics that are read rather than counted. */
  onScrape(refresh: () => void): void {
    this.#refreshers.add(refresh)
  }

  /**
   * Returns the current values of a metric, one for each set of label values; none if there is no metric of this name.
   * Metrics that are read only when they are scraped have the values of the last scrape.
   */
  read(name: string): readonly MetricReading[] {
    const family = this.#families.get(name)
    return Array.from(family?.entries() ?? [], ({ values: labels, series }) =>
      series instanceof Histogram ? series.reading(labels) : { labels, value: series.value },
    )
  }

  /** Returns all metrics in the Prometheus text format 0.0.4. */
  text(): string {
    for (const refresh of this.#refreshers) refresh()
    return writeMetrics(
      Array.from(this.#definitions.values(), definition => ({
        definition,
        samples: samplesOf(definition, this.#families.get(definition.name)?.entries() ?? []),
      })),
    )
  }

  #add<S extends Series | Histogram>(definition: MetricDefinition, make: () => S): MetricFamily<S> {
    const { name, labels } = definition
    if (!metricName.test(name)) throw new TypeError(`invalid metric name "${name}"`)
    const bad = labels.find(label => !labelName.test(label) || reservedLabel.test(label))
    if (bad !== undefined) throw new TypeError(`invalid label "${bad}" of metric ${name}`)
    if (this.#definitions.has(name)) throw new TypeError(`metric ${name} already exists`)
    const family = new LabeledFamily(definition, make, this.#options)
    this.#definitions.set(name, definition)
    this.#families.set(name, family)
    return family
  }
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/
/** `le` and `quantile` are reserved for histograms and summaries, and names that start with `__` for Prometheus. */
const reservedLabel = /^(?:__.*|le|quantile)$/

interface Entry<S> {
  readonly values: readonly string[]
  readonly series: S
}

class LabeledFamily<S> implements MetricFamily<S> {
  readonly #labels: readonly string[]
  readonly #make: () => S
  readonly #maxValues: number
  readonly #maxSeries: number
  readonly #known: Set<string>[]
  // One level per label: joined to one key, two different sets of values could collide.
  readonly #tree: Branch<S> = new Map()
  #count = 0

  constructor(definition: MetricDefinition, make: () => S, options: MetricRegistryOptions) {
    this.#labels = definition.labels
    this.#make = make
    this.#maxValues = options.maxLabelValues ?? limits.metricLabelValues.default
    this.#maxSeries = options.maxSeries ?? limits.metricSeries.default
    this.#known = definition.labels.map(() => new Set())
    // A metric without labels exists from the start, as 0.
    if (definition.labels.length === 0) this.at()
  }

  at(...values: string[]): S {
    if (values.length !== this.#labels.length) {
      throw new TypeError(
        `expected one value for each label: ${this.#labels.join(', ') || 'no labels'}`,
      )
    }
    return this.#find(values) ?? this.#create(values.map((value, at) => this.#bounded(value, at)))
  }

  remove(label: string, value: string): void {
    const level = this.#labels.indexOf(label)
    for (const { values } of [...this.entries()]) {
      if (values[level] === value) this.#remove(values)
    }
    this.#known[level]?.delete(value)
  }

  *entries(branch: Branch<S> = this.#tree): Iterable<Entry<S>> {
    for (const node of branch.values()) {
      if (node instanceof Map) yield* this.entries(node)
      else yield node
    }
  }

  #find(values: readonly string[]): S | undefined {
    let node: Branch<S> | Entry<S> | undefined = this.#tree
    for (const value of values.length === 0 ? [''] : values) {
      node = node instanceof Map ? node.get(value) : undefined
    }
    return node === undefined || node instanceof Map ? undefined : node.series
  }

  #create(values: readonly string[]): S {
    const known = this.#find(values)
    if (known !== undefined) return known
    const others = values.map(() => other)
    const isOther = values.every(value => value === other)
    if (this.#count >= this.#maxSeries && !isOther) return this.#create(others)
    const keys = values.length === 0 ? [''] : values
    let branch = this.#tree
    for (const value of keys.slice(0, -1)) {
      const next = branch.get(value)
      const child: Branch<S> = next instanceof Map ? next : new Map()
      branch.set(value, child)
      branch = child
    }
    const entry = { values, series: this.#make() }
    branch.set(keys.at(-1) ?? '', entry)
    this.#count += 1
    return entry.series
  }

  #remove(values: readonly string[]): void {
    let branch: Branch<S> | undefined = this.#tree
    for (const value of values.slice(0, -1)) {
      const next: Branch<S> | Entry<S> | undefined = branch?.get(value)
      branch = next instanceof Map ? next : undefined
    }
    if (branch?.delete(values.at(-1) ?? '')) this.#count -= 1
  }

  #bounded(value: string, at: number): string {
    const known = this.#known[at]
    if (known === undefined || known.has(value)) return value
    if (known.size >= this.#maxValues || value.length > limits.metricLabelLength.default)
      return other
    known.add(value)
    return value
  }
}

type Branch<S> = Map<string, Branch<S> | Entry<S>>

class Histogram implements HistogramSeries {
  readonly #bounds: readonly number[]
  readonly #counts: number[]
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let at = 0
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += value
  }

  reading(labels: readonly string[]): MetricReading {
    const counts = [...this.#counts]
    const value = counts.reduce((sum, count) => sum + count, 0)
    return { labels, value, counts, bounds: this.#bounds }
  }

  samples(labels: readonly Label[]): MetricSample[] {
    let total = 0
    const buckets = this.#counts.map((count, at): MetricSample => {
      total += count
      const bound = this.#bounds[at] ?? Number.POSITIVE_INFINITY
      const le = bound === Number.POSITIVE_INFINITY ? '+Inf' : `${bound}`
      return { suffix: '_bucket', labels: [...labels, ['le', le]], value: total }
    })
    return [
      ...buckets,
      { suffix: '_sum', labels, value: this.#sum },
      { suffix: '_count', labels, value: total },
    ]
  }
}

type Label = readonly [name: string, value: string]

function samplesOf(
  { labels: names }: MetricDefinition,
  entries: Iterable<Entry<Series | Histogram>>,
): MetricSample[] {
  return Array.from(entries).flatMap(({ values, series }) => {
    const labels = names.map((name, at): Label => [name, values[at] ?? ''])
    return series instanceof Histogram
      ? series.samples(labels)
      : [{ suffix: '', labels, value: series.value }]
  })
}
