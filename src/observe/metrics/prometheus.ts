/** The media type of the text: the version is that of the format. */
export const prometheusType = 'text/plain; version=0.0.4; charset=utf-8'

/** One number of a metric. */
export interface Sample {
  /** What stands behind the metric's name: `_bucket`, `_sum`, `_count`, or nothing. */
  readonly suffix: string
  readonly labels: readonly (readonly [name: string, value: string])[]
  readonly value: number
}

/** A metric as it is written: what it is, and its numbers. */
export interface WrittenMetric {
  readonly definition: { readonly name: string; readonly type: string; readonly help: string }
  readonly samples: readonly Sample[]
}

/**
 * Metrics in the text format of Prometheus, version 0.0.4: for each one line of help and one with its
 * type, then all its numbers together. Names are taken as they are, so they have to be checked before.
 */
export function writeMetrics(metrics: readonly WrittenMetric[]): string {
  let text = ''
  for (const { definition, samples } of metrics) {
    const { name, type, help } = definition
    text += `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n`
    for (const { suffix, labels, value } of samples) {
      text += `${name}${suffix}${written(labels)} ${number(value)}\n`
    }
  }
  return text
}

function written(labels: Sample['labels']): string {
  if (labels.length === 0) return ''
  return `{${labels.map(([name, value]) => `${name}="${escapedLabel(value)}"`).join(',')}}`
}

function escapedHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapedLabel(text: string): string {
  // Half of a surrogate pair has no form in UTF-8, and one would spoil the whole scrape.
  return escapedHelp(text.toWellFormed()).replaceAll('"', '\\"')
}

function number(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : `${value}`
}
