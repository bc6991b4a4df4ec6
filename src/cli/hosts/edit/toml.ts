import type { HostEntry } from './entry.ts'
import { lineEndOf, linesOf } from './lines.ts'

/**
 * Adds a server to a TOML file, as a table at its end. {@link removeFromToml} restores the text byte for byte: a file
 * without a line end at its end has none afterwards either.
 */
export function addToToml(text: string, key: string, name: string, entry: HostEntry): string {
  const eol = lineEndOf(text)
  const members = Object.entries(entry).map(([member, value]) => `${member} = ${tomlValue(value)}`)
  const block = [`[${key}.${tomlKey(name)}]`, ...members].join(eol)
  if (text === '') return `${block}${eol}`
  return text.endsWith('\n') ? `${text}${eol}${block}${eol}` : `${text}${eol}${eol}${block}`
}

/** Removes the table of a server, and the tables in it; undefined if it is not there. */
export function removeFromToml(text: string, key: string, name: string): string | undefined {
  const lines = linesOf(text)
  const names = [tomlKey(name), JSON.stringify(name), `'${name}'`].map(escaped).join('|')
  const own = new RegExp(`^\\s*\\[\\s*${escaped(key)}\\s*\\.\\s*(?:${names})\\s*[.\\]]`)
  const start = lines.findIndex(line => own.test(line))
  if (start === -1) return undefined
  const length = lines.slice(start + 1).findIndex(line => /^\s*\[/.test(line) && !own.test(line))
  const end = length === -1 ? lines.length : trimmed(lines, start, start + 1 + length)
  const before = lines.slice(0, start)
  // The empty line before the table; at the end of a file that has no line end, the line end before that too.
  if (/^\r?\n$/.test(before.at(-1) ?? '')) before.pop()
  const kept = before.join('')
  const isOpenEnd = end === lines.length && !text.endsWith('\n')
  return (isOpenEnd ? kept.replace(/\r?\n$/, '') : kept) + lines.slice(end).join('')
}

/** Leaves comments and empty lines before the next table to that table. */
function trimmed(lines: readonly string[], start: number, end: number): number {
  let last = end
  while (last > start + 1 && /^\s*(?:#.*)?\r?\n$/.test(lines[last - 1] ?? '')) last--
  return last
}

function tomlKey(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name)
}

/** Strings and lists of strings are written as in JSON, whose escapes TOML has too. */
function tomlValue(value: HostEntry[string]): string {
  if (Array.isArray(value)) return `[${value.map(item => JSON.stringify(item)).join(', ')}]`
  return JSON.stringify(value)
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
