/** The media type of the text format, with the version of the format. */
export const prometheusType = 'text/plain; version=0.0.4; charset=utf-8'

/** One sample of a metric. */
export interface MetricSample {
  /** The suffix of the metric name: `_bucket`, `_sum`, `_count`, or empty. */
  readonly suffix: string
  readonly labels: readonly (readonly [name: string, value: string])[]
  readonly value: number
}

/** A metric and its samples. */
export interface MetricSamples {
  readonly definition: { readonly name: string; readonly type: string; readonly help: string }
  readonly samples: readonly MetricSample[]
}

/**
 * Writes metrics in the Prometheus text format, version 0.0.4: for each metric a HELP line, a TYPE line and
 * its samples. Names are not escaped, so they must be validated before.
 */
export function writeMetrics(metrics: readonly MetricSamples[]): string {
  let text = ''
  for (const { definition, samples } of metrics) {
    const { name, type, help } = definition
    text += `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n`
    for (const { suffix, labels, value } of samples) {
      text += `${name}${suffix}${labelText(labels)} ${number(value)}\n`
    }
  }
  return text
}

function labelText(labels: MetricSample['labels']): string {
  if (labels.length === 0) return ''
  return `{${labels.map(([name, value]) => `${name}="${escapedLabel(value)}"`).join(',')}}`
}

function escapedHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapedLabel(text: string): string {
  // A lone surrogate cannot be encoded in UTF-8, and would make the whole scrape fail.
  return escapedHelp(text.toWellFormed()).replaceAll('"', '\\"')
}

function number(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : `${value}`
}
