import { readFileSync, writeFileSync } from 'node:fs'

/** A Markdown table; the first row is its header. */
export type Table = readonly (readonly string[])[]

const root = new URL('../', import.meta.url)

/** Returns the text of a file of the repository. */
export function readFile(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}

/**
 * Returns the table of a document between `<!-- name: … -->` and `<!-- /name -->`. With UPDATE=1 in the
 * environment, `expected` is written there first.
 */
export function documentedTable(path: string, name: string, expected?: Table): Table {
  const text = readFile(path)
  const place = new RegExp(`(<!-- ${name}: .*? -->\n)(.*?)(<!-- /${name} -->)`, 's')
  const found = place.exec(text)
  if (found === null) throw new Error(`${path} has no place for the table "${name}"`)
  if (expected === undefined || process.env.UPDATE !== '1') return parse(found[2] ?? '')
  const [, begin = '', , end = ''] = found
  writeFileSync(
    new URL(path, root),
    text.replace(place, () => begin + print(expected) + end),
  )
  return expected
}

function print([head = [], ...rows]: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(' | ')} |\n`
  return `${line(head)}|${'---|'.repeat(head.length)}\n${rows.map(line).join('')}`
}

function parse(text: string): Table {
  const lines = text.split('\n').filter(line => line.startsWith('|'))
  return lines
    .filter((_, at) => at !== 1)
    .map(line =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map(cell => cell.trim().replaceAll('\\|', '|')),
    )
}

function escaped(cell: string): string {
  return cell.replaceAll('|', '\\|')
}
