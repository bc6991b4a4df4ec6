import {
  createScanner,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { limits } from '../../util/limits/limits.ts'
import { type ConfigIssue, type ConfigPath, type Position, pathText } from './issue.ts'

/** A value of a configuration file, with the place where it stands. */
export type ConfigNode =
  | {
      readonly type: 'object'
      readonly at: Position
      readonly members: ReadonlyMap<string, Member>
    }
  | { readonly type: 'list'; readonly at: Position; readonly items: readonly ConfigNode[] }
  | { readonly type: 'string'; readonly at: Position; readonly value: string }
  | { readonly type: 'number'; readonly at: Position; readonly value: number }
  | { readonly type: 'boolean'; readonly at: Position; readonly value: boolean }
  | { readonly type: 'null'; readonly at: Position }

/** One member of an object: where its name stands, and its value. */
export interface Member {
  readonly at: Position
  readonly value: ConfigNode
}

/** What a text holds: its value, unless it cannot be read, and what is wrong with it. */
export interface ConfigText {
  readonly root?: ConfigNode
  readonly issues: readonly ConfigIssue[]
}

/**
 * Reads JSON with comments and trailing commas into values that know where they stand. Never throws.
 *
 * A text with errors has no root: what a parser makes of the rest is a guess. Of several errors on one
 * line only the first is told, because the others mostly follow from it. A member that is given twice
 * is an error too, since readers of JSON do not agree on which of the two counts.
 */
export function readConfigText(source: string): ConfigText {
  // Editors on Windows may begin a file with a byte order mark.
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source
  const places = new Places(text)
  const refused = tooLarge(text) ?? tooDeep(text, places)
  if (refused !== undefined) return { issues: [refused] }
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true })
  if (errors.length > 0 || tree === undefined) return { issues: syntaxIssues(text, errors, places) }
  const issues: ConfigIssue[] = []
  const root = convert(tree, [], places, issues)
  return issues.length > 0 ? { issues } : { root, issues }
}

/** From offsets to lines and columns. */
class Places {
  readonly #starts: number[] = [0]

  constructor(text: string) {
    for (const match of text.matchAll(/\r\n|\r|\n/g))
      this.#starts.push(match.index + match[0].length)
  }

  at(offset: number): Position {
    let line = 0
    let after = this.#starts.length
    while (after - line > 1) {
      const middle = (line + after) >> 1
      if ((this.#starts[middle] ?? 0) <= offset) line = middle
      else after = middle
    }
    return { line: line + 1, column: offset - (this.#starts[line] ?? 0) + 1 }
  }
}

function tooLarge(text: string): ConfigIssue | undefined {
  // UTF-16 units never outnumber the bytes of UTF-8; the file itself was measured in bytes.
  if (text.length <= limits.configBytes.default) return undefined
  const message = `the file is longer than ${limits.configBytes.default} bytes`
  return { severity: 'error', path: '', line: 1, column: 1, message }
}

/** Looked at first, because the parser calls itself for every level. */
function tooDeep(text: string, places: Places): ConfigIssue | undefined {
  const scanner = createScanner(text, true)
  let depth = 0
  for (;;) {
    scanner.scan()
    const offset = scanner.getTokenOffset()
    if (offset >= text.length) return undefined
    const first = text[offset]
    if (first === '{' || first === '[') depth++
    else if (first === '}' || first === ']') depth--
    if (depth <= limits.configDepth.default) continue
    const message = `more than ${limits.configDepth.default} objects and lists within each other`
    return { severity: 'error', path: '', ...places.at(offset), message }
  }
}

function syntaxIssues(
  text: string,
  errors: readonly ParseError[],
  places: Places,
): readonly ConfigIssue[] {
  if (text.trim() === '') {
    const message = 'the file is empty; write at least { "mcpServers": {} }'
    return [{ severity: 'error', path: '', line: 1, column: 1, message }]
  }
  const byLine = new Map<number, ConfigIssue>()
  let before = ''
  for (const { error, offset } of errors) {
    const code = printParseErrorCode(error)
    // A word that is none also counts as nothing where something should be, perhaps lines later.
    const follows = before === 'InvalidSymbol' && /^(?:Value|PropertyName)Expected$/.test(code)
    before = code
    const place = places.at(Math.min(offset, text.length))
    if (follows || byLine.has(place.line)) continue
    const message = syntaxWords.get(code) ?? 'this is no JSON'
    const excerpt = excerptOf(text, place)
    byLine.set(place.line, { severity: 'error', path: '', ...place, message, excerpt })
  }
  return [...byLine.values()].sort((one, other) => one.line - other.line)
}

const syntaxWords: ReadonlyMap<string, string> = new Map([
  ['InvalidSymbol', 'this is no JSON; names and texts stand in double quotes'],
  ['InvalidNumberFormat', 'this is no number of JSON'],
  ['PropertyNameExpected', 'the name of a member in double quotes is missing'],
  ['ValueExpected', 'a value is missing'],
  ['ColonExpected', 'a colon is missing between name and value'],
  ['CommaExpected', 'a comma is missing before this'],
  ['CloseBraceExpected', 'a closing } is missing'],
  ['CloseBracketExpected', 'a closing ] is missing'],
  ['EndOfFileExpected', 'the file goes on after its value'],
  ['UnexpectedEndOfComment', 'the comment has no end'],
  ['UnexpectedEndOfString', 'the text has no closing quote on its line'],
  ['UnexpectedEndOfNumber', 'the number is not complete'],
  ['InvalidUnicode', 'four hexadecimal digits must follow \\u'],
  [
    'InvalidEscapeCharacter',
    'a backslash in a text must be followed by one of "\\/bfnrtu; write \\\\ for itself',
  ],
  ['InvalidCharacter', 'the text holds a control character; write it as \\u and four digits'],
])

/** The line of a place and a caret below it; of a long line, what stands around the place. */
function excerptOf(text: string, { line, column }: Position): string {
  const whole = masked(text.split(/\r\n|\r|\n/)[line - 1] ?? '').replaceAll('\t', ' ')
  const from = Math.max(0, column - 1 - 50)
  const shown = whole.slice(from, from + 80)
  return `  ${shown}\n  ${' '.repeat(column - 1 - from)}^`
}

/** Excerpts end up in logs, so what looks like a key is not shown. The columns stay the same. */
function masked(line: string): string {
  return line.replace(/[\w+/=.-]{16,}/g, word =>
    /\d/.test(word) && /[a-z]/i.test(word) ? '*'.repeat(word.length) : word,
  )
}

function convert(node: Node, path: ConfigPath, places: Places, issues: ConfigIssue[]): ConfigNode {
  const at = places.at(node.offset)
  const children = node.children ?? []
  switch (node.type) {
    case 'object':
      return { type: 'object', at, members: membersOf(children, path, places, issues) }
    case 'array': {
      const items = children.map((item, index) => convert(item, [...path, index], places, issues))
      return { type: 'list', at, items }
    }
    case 'string':
    case 'number':
    case 'boolean':
      // The check: the parser's word for the type of the value.
      return { type: node.type, at, value: node.value } as ConfigNode
    default:
      return { type: 'null', at }
  }
}

function membersOf(
  properties: readonly Node[],
  path: ConfigPath,
  places: Places,
  issues: ConfigIssue[],
): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>()
  for (const { children: [key, value] = [] } of properties) {
    if (key === undefined || value === undefined) continue
    const name = String(key.value)
    const at = places.at(key.offset)
    const here = [...path, name]
    const earlier = members.get(name)
    if (earlier !== undefined) {
      const message = `${JSON.stringify(name)} is given twice; the first is on line ${earlier.at.line}`
      issues.push({ severity: 'error', path: pathText(here), ...at, message })
      continue
    }
    members.set(name, { at, value: convert(value, here, places, issues) })
  }
  return members
}
