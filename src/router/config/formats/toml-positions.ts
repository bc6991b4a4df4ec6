import { type Position, pathText } from '../issue.ts'

/**
 * Returns the positions of the keys and table headers of a valid TOML text, by path, because the parser does not
 * report them. Keys in inline tables have none. Multi-line strings are skipped.
 */
export function tomlPositions(text: string): ReadonlyMap<string, Position> {
  const positions = new Map<string, Position>()
  const add = (path: readonly string[], position: Position): void => {
    // A table of a deeper path creates those above it.
    for (let length = path.length; length > 0; length--) {
      const key = pathText(path.slice(0, length))
      if (!positions.has(key)) positions.set(key, position)
    }
  }
  let table: readonly string[] = []
  let openString: string | undefined
  for (const [index, line] of text.split(/\r\n|\n/).entries()) {
    if (openString !== undefined) {
      if (line.includes(openString)) openString = undefined
      continue
    }
    const [, indent = '', bracket = '', header = ''] = headerLine.exec(line) ?? []
    const position = { line: index + 1, column: indent.length + 1 }
    if (bracket !== '') {
      table = keysOf(header)
      add(table, position)
      continue
    }
    const [, space = '', keys = '', value = ''] = keyLine.exec(line) ?? []
    if (keys === '') continue
    add([...table, ...keysOf(keys)], { line: index + 1, column: space.length + 1 })
    const [, quotes] = /^("""|''')/.exec(value) ?? []
    if (quotes !== undefined && !value.slice(3).includes(quotes)) openString = quotes
  }
  return positions
}

const key = `(?:[\\w-]+|"(?:\\\\.|[^"\\\\])*"|'[^']*')`
const keys = `${key}(?:\\s*\\.\\s*${key})*`
const headerLine = new RegExp(`^(\\s*)(\\[{1,2})\\s*(${keys})\\s*\\]`)
const keyLine = new RegExp(`^(\\s*)(${keys})\\s*=\\s*(.*)`)

/** Splits a dotted key; quoted parts lose their quotes. */
function keysOf(text: string): readonly string[] {
  return Array.from(text.matchAll(new RegExp(key, 'g')), ([part]) => {
    if (part.startsWith("'")) return part.slice(1, -1)
    if (!part.startsWith('"')) return part
    try {
      return String(JSON.parse(part))
    } catch {
      return part.slice(1, -1)
    }
  })
}
