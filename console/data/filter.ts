import type { CallRow } from '../../src/console/wire.ts'

/** Tests whether a call is shown. */
export type CallFilter = (row: CallRow) => boolean

/**
 * Reads a filter such as `server:files outcome:error slower:500ms caller:cursor text`. All terms must match; a term
 * without a name matches the tool, the server, the method and the reason. `-` before a term negates it.
 */
export function callFilter(text: string): CallFilter {
  const terms = text.trim().split(/\s+/).filter(Boolean).map(term)
  return row => terms.every(matches => matches(row))
}

function term(text: string): CallFilter {
  if (text.startsWith('-') && text.length > 1) {
    const matches = term(text.slice(1))
    return row => !matches(row)
  }
  const cut = text.indexOf(':')
  const value = text.slice(cut + 1).toLowerCase()
  const field = cut > 0 ? fields.get(text.slice(0, cut).toLowerCase()) : undefined
  if (field !== undefined) return row => value === '' || field(row, value)
  const wanted = text.toLowerCase()
  return row =>
    [row.name, row.server, row.method, row.reason, row.kind, row.client].some(each =>
      has(each, wanted),
    )
}

const fields: ReadonlyMap<string, (row: CallRow, value: string) => boolean> = new Map([
  ['server', (row, value) => row.server?.toLowerCase() === value],
  ['instance', (row, value) => row.instance === value],
  ['tool', (row, value) => has(row.name, value)],
  ['method', (row, value) => has(row.method, value)],
  ['caller', (row, value) => has(row.client, value) || has(row.principal, value)],
  ['era', (row, value) => row.era === value],
  ['is', (row, value) => kinds.get(value)?.(row) ?? false],
  ['outcome', (row, value) => (row.outcome ?? 'running') === value || isFailed(row, value)],
  ['slower', (row, value) => (row.ms ?? Number.POSITIVE_INFINITY) >= milliseconds(value)],
  ['faster', (row, value) => (row.ms ?? Number.POSITIVE_INFINITY) < milliseconds(value)],
])

const kinds: ReadonlyMap<string, (row: CallRow) => boolean> = new Map([
  ['slow', row => row.isSlow === true],
  ['retried', row => (row.retries ?? 0) > 0],
  ['running', row => row.outcome === undefined],
  ['failed', row => isFailed(row, 'failed')],
  ['asked', row => (row.questions ?? 0) > 0],
])

function isFailed({ outcome }: CallRow, value: string): boolean {
  return value === 'failed' && (outcome === 'error' || outcome === 'tool-error')
}

function has(text: string | undefined, part: string): boolean {
  return text?.toLowerCase().includes(part) ?? false
}

/** Reads `500ms`, `2s`, or a number of milliseconds. */
function milliseconds(text: string): number {
  const [, number = '0', unit] = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(text) ?? []
  return Number(number) * (unit === 's' ? 1000 : 1)
}
