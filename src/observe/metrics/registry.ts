import { limits } from '../../util/limits/limits.ts'
import { type Sample, writeMetrics } from './prometheus.ts'

/** A number with a set of label values. It is changed in place, so that counting is an addition. */
export interface Series {
  value: number
}

/** How often values fell into each bucket, with a set of label values. */
export interface HistogramSeries {
  observe(value: number): void
}

/** What one metric is: what a scrape says of it before its numbers. */
export interface MetricDefinition {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
}

/** How much a registry keeps. */
export interface RegistryOptions {
  /** Different values of one label of a metric. */
  readonly maxLabelValues?: number
  /** Combinations of label values of one metric. */
  readonly maxSeries?: number
  /** Upper bounds of the buckets of histograms, in seconds, smallest first. */
  readonly buckets?: readonly number[]
}

/** One metric with all its series. Label values beyond the limits count under `other`. */
export interface Family<S> {
  /** The series of these label values, given in the order of the labels; made on first use. */
  at(...values: string[]): S
  /** Forgets every series with this value of a label. */
  forget(label: string, value: string): void
}

/**
 * Upper bounds in seconds: those that OpenTelemetry recommends for MCP, and finer ones for servers
 * that are near.
 */
export const defaultBuckets: readonly number[] = [
  0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300,
]

/** What label values beyond the limits are counted under. */
export const other = 'other'

/** Counters, gauges and histograms by name, and their text for Prometheus. */
export class Registry {
  readonly #options: RegistryOptions
  readonly #families = new Map<string, Labelled<Series | Histogram>>()
  readonly #definitions = new Map<string, MetricDefinition>()
  readonly #refreshers = new Set<() => void>()

  constructor(options: RegistryOptions = {}) {
    this.#options = options
    const { buckets = defaultBuckets } = options
    if (!buckets.every((bound, at) => Number.isFinite(bound) && bound > (buckets[at - 1] ?? 0))) {
      throw new TypeError('the option "buckets" is a list of numbers above 0, smallest first')
    }
  }

  /** Adds a counter or a gauge. Throws a TypeError for a name that is taken or that cannot be one. */
  number(definition: MetricDefinition & { readonly type: 'counter' | 'gauge' }): Family<Series> {
    return this.#add(definition, () => ({ value: 0 }))
  }

  /** Adds a histogram. Throws as `number` does. */
  histogram(
    definition: MetricDefinition & { readonly type: 'histogram' },
  ): Family<HistogramSeries> {
    const { buckets = defaultBuckets } = this.#options
    return this.#add(definition, () => new Histogram(buckets))
  }

  /** Has `refresh` called ahead of every text, for numbers that are looked up rather than counted. */
  onScrape(refresh: () => void): void {
    this.#refreshers.add(refresh)
  }

  /** Everything as text of the Prometheus format 0.0.4. */
  text(): string {
    for (const refresh of this.#refreshers) refresh()
    return writeMetrics(
      Array.from(this.#definitions.values(), definition => ({
        definition,
        samples: samplesOf(definition, this.#families.get(definition.name)?.entries() ?? []),
      })),
    )
  }

  #add<S extends Series | Histogram>(definition: MetricDefinition, make: () => S): Family<S> {
    const { name, labels } = definition
    if (!metricName.test(name)) throw new TypeError(`"${name}" cannot be the name of a metric`)
    const bad = labels.find(label => !labelName.test(label) || reservedLabel.test(label))
    if (bad !== undefined) throw new TypeError(`"${bad}" cannot be a label of the metric ${name}`)
    if (this.#definitions.has(name)) throw new TypeError(`there is a metric ${name} already`)
    const family = new Labelled(definition, make, this.#options)
    this.#definitions.set(name, definition)
    this.#families.set(name, family)
    return family
  }
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/
/** `le` belongs to histograms, and what begins with two underlines to Prometheus. */
const reservedLabel = /^(?:__.*|le|quantile)$/

interface Entry<S> {
  readonly values: readonly string[]
  readonly series: S
}

class Labelled<S> implements Family<S> {
  readonly #labels: readonly string[]
  readonly #make: () => S
  readonly #maxValues: number
  readonly #maxSeries: number
  readonly #known: Set<string>[]
  // By one label after the other: joined to one key, two sets of values could be taken for one.
  readonly #tree: Branch<S> = new Map()
  #count = 0

  constructor(definition: MetricDefinition, make: () => S, options: RegistryOptions) {
    this.#labels = definition.labels
    this.#make = make
    this.#maxValues = options.maxLabelValues ?? limits.metricLabelValues.default
    this.#maxSeries = options.maxSeries ?? limits.metricSeries.default
    this.#known = definition.labels.map(() => new Set())
    // What has no labels is there from the start, as 0.
    if (definition.labels.length === 0) this.at()
  }

  at(...values: string[]): S {
    if (values.length !== this.#labels.length) {
      throw new TypeError(`needs a value for each of: ${this.#labels.join(', ') || 'no labels'}`)
    }
    return this.#find(values) ?? this.#create(values.map((value, at) => this.#bounded(value, at)))
  }

  forget(label: string, value: string): void {
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

  samples(labels: readonly Label[]): Sample[] {
    let total = 0
    const buckets = this.#counts.map((count, at): Sample => {
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
): Sample[] {
  return Array.from(entries).flatMap(({ values, series }) => {
    const labels = names.map((name, at): Label => [name, values[at] ?? ''])
    return series instanceof Histogram
      ? series.samples(labels)
      : [{ suffix: '', labels, value: series.value }]
  })
}
