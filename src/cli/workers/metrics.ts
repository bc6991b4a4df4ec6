import type { WorkerTexts } from './messages.ts'

/**
 * Merges the metrics of workers, in the Prometheus text format: each sample gets the label `worker`, and each metric one
 * HELP and one TYPE line.
 */
export function mergedMetrics(texts: WorkerTexts): string {
  const families = new Map<string, string[]>()
  for (const [worker, text] of texts) {
    let samples: string[] = []
    let head = ''
    for (const line of text.split('\n')) {
      if (line.startsWith('# HELP ')) head = line
      else if (line.startsWith('# TYPE ')) {
        const both = `${head}\n${line}`
        samples = families.get(both) ?? []
        families.set(both, samples)
      } else if (line !== '') samples.push(labeled(line, worker))
    }
  }
  let merged = ''
  for (const [head, samples] of families) merged += `${head}\n${samples.join('\n')}\n`
  return merged
}

/** Adds the label to a sample: `name value` or `name{labels} value`. */
function labeled(sample: string, worker: number): string {
  const end = sample.search(/[ {]/)
  const rest = sample.slice(end)
  const labels = rest.startsWith('{') ? `,${rest.slice(1)}` : `}${rest}`
  return `${sample.slice(0, end)}{worker="${worker}"${labels}`
}
