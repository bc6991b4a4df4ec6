import {
  createScanner,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { limits } from '../../util/limits/limits.ts'
import { type ConfigIssue, type ConfigPath, type Position, pathText } from './issue.ts'

/** A value of a configuration file with its position. */
export type ConfigNode =
  | {
      readonly type: 'object'
      /** Where it begins. */
      readonly at: Position
      /** The members, by name. */
      readonly members: ReadonlyMap<string, Member>
    }
  | {
      readonly type: 'list'
      /** Where it begins. */
      readonly at: Position
      /** The elements. */
      readonly items: readonly ConfigNode[]
    }
  | {
      readonly type: 'string'
      /** Where it begins. */
      readonly at: Position
      /** The text. */
      readonly value: string
    }
  | {
      readonly type: 'number'
      /** Where it begins. */
      readonly at: Position
      /** The number. */
      readonly value: number
    }
  | {
      readonly type: 'boolean'
      /** Where it begins. */
      readonly at: Position
      /** The truth value. */
      readonly value: boolean
    }
  | {
      readonly type: 'null'
      /** Where it begins. */
      readonly at: Position
    }

/** An object in a configuration file. */
export type ObjectNode = ConfigNode & { readonly type: 'object' }

/** One member of an object: the position of its name, and its value. */
export interface Member {
  /** The position of its name. */
  readonly at: Position
  /** Its value. */
  readonly value: ConfigNode
}

/** The result of parsing: the root value, unless there are errors, and the issues. */
export interface ConfigText {
  /** The value of the whole file; undefined if it could not be parsed. */
  readonly root?: ConfigNode
  /** What is wrong with the file. */
  readonly issues: readonly ConfigIssue[]
}

/**
 * Parses JSON with comments and trailing commas into values with positions. Never throws.
 *
 * A text with errors has no root, because the result of error recovery is a guess. Of several errors on
 * one line only the first is reported, because the others mostly follow from it. A duplicate member is an
 * error, because JSON parsers disagree on which of the two counts.
 */
export function readConfigText(source: string): ConfigText {
  // Editors on Windows may write a byte order mark.
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source
  const lines = new LineIndex(text)
  const rejected = sizeIssue(text) ?? tooDeep(text, lines)
  if (rejected !== undefined) return { issues: [rejected] }
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true })
  if (errors.length > 0 || tree === undefined) return { issues: syntaxIssues(text, errors, lines) }
  const issues: ConfigIssue[] = []
  const root = convert(tree, [], lines, issues)
  return issues.length > 0 ? { issues } : { root, issues }
}

/** Converts offsets to lines and columns. */
class LineIndex {
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

/** Creates an error at a position, about no particular value. */
export function issueAt(at: Position, message: string): ConfigIssue {
  return { severity: 'error', path: '', ...at, message }
}

/** Returns the error for a text that is too large to be parsed; undefined for any other. */
export function sizeIssue(text: string): ConfigIssue | undefined {
  // A text never has more UTF-16 units than UTF-8 bytes; the size of a file is checked in bytes elsewhere.
  if (text.length <= limits.configBytes.default) return undefined
  const message = `the file is larger than ${limits.configBytes.default} bytes`
  return issueAt({ line: 1, column: 1 }, message)
}

/** Checked before parsing, because the parser recurses for every level. */
function tooDeep(text: string, lines: LineIndex): ConfigIssue | undefined {
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
    const message = `objects and arrays are nested more than ${limits.configDepth.default} levels deep`
    return { severity: 'error', path: '', ...lines.at(offset), message }
  }
}

function syntaxIssues(
  text: string,
  errors: readonly ParseError[],
  lines: LineIndex,
): readonly ConfigIssue[] {
  if (text.trim() === '') {
    const message = 'the file is empty; it needs at least { "mcpServers": {} }'
    return [{ severity: 'error', path: '', line: 1, column: 1, message }]
  }
  const byLine = new Map<number, ConfigIssue>()
  let before = ''
  for (const { error, offset } of errors) {
    const code = printParseErrorCode(error)
    // After an invalid symbol the parser also reports a missing value or name, possibly lines later.
    const follows = before === 'InvalidSymbol' && /^(?:Value|PropertyName)Expected$/.test(code)
    before = code
    // At the end of the file the last line with text shows what is unfinished; the lines after it are empty.
    const isAtEnd = text.slice(offset).trim() === ''
    const position = lines.at(isAtEnd ? text.trimEnd().length : offset)
    if (follows || byLine.has(position.line)) continue
    const problem = syntaxMessages.get(code) ?? 'invalid JSON'
    const message = isAtEnd ? `the file ends too early: ${problem}` : problem
    const excerpt = excerptOf(text, position)
    byLine.set(position.line, { severity: 'error', path: '', ...position, message, excerpt })
  }
  return [...byLine.values()].sort((one, other) => one.line - other.line)
}

const syntaxMessages: ReadonlyMap<string, string> = new Map([
  ['InvalidSymbol', 'invalid JSON; names and strings need double quotes'],
  ['InvalidNumberFormat', 'invalid number'],
  ['PropertyNameExpected', 'expected a member name in double quotes'],
  ['ValueExpected', 'expected a value'],
  ['ColonExpected', 'expected a colon between name and value'],
  ['CommaExpected', 'expected a comma before this'],
  ['CloseBraceExpected', 'expected a closing }'],
  ['CloseBracketExpected', 'expected a closing ]'],
  ['EndOfFileExpected', 'unexpected content after the end of the value'],
  ['UnexpectedEndOfComment', 'unterminated comment'],
  ['UnexpectedEndOfString', 'unterminated string; it needs a closing quote on the same line'],
  ['UnexpectedEndOfNumber', 'incomplete number'],
  ['InvalidUnicode', '\\u must be followed by four hexadecimal digits'],
  [
    'InvalidEscapeCharacter',
    'a backslash in a string must be followed by one of "\\/bfnrtu; use \\\\ for a literal backslash',
  ],
  [
    'InvalidCharacter',
    'the string contains a control character; write it as \\u and four hexadecimal digits',
  ],
])

/** Returns the line of a position with a caret below it; a long line is cut around the position. */
function excerptOf(text: string, { line, column }: Position): string {
  const whole = masked(text.split(/\r\n|\r|\n/)[line - 1] ?? '').replaceAll('\t', ' ')
  const from = Math.max(0, column - 1 - 50)
  const shown = whole.slice(from, from + 80)
  return `  ${shown}\n  ${' '.repeat(column - 1 - from)}^`
}

/** Masks what looks like a key, because excerpts end up in logs. The columns stay the same. */
function masked(line: string): string {
  return line.replace(/[\w+/=.-]{16,}/g, word =>
    /\d/.test(word) && /[a-z]/i.test(word) ? '*'.repeat(word.length) : word,
  )
}

function convert(
  node: Node,
  path: ConfigPath,
  lines: LineIndex,
  issues: ConfigIssue[],
): ConfigNode {
  const at = lines.at(node.offset)
  const children = node.children ?? []
  switch (node.type) {
    case 'object':
      return { type: 'object', at, members: membersOf(children, path, lines, issues) }
    case 'array': {
      const items = children.map((item, index) => convert(item, [...path, index], lines, issues))
      return { type: 'list', at, items }
    }
    case 'string':
    case 'number':
    case 'boolean':
      // The check: the parser reports the type of the value.
      return { type: node.type, at, value: node.value } as ConfigNode
    default:
      return { type: 'null', at }
  }
}

function membersOf(
  properties: readonly Node[],
  path: ConfigPath,
  lines: LineIndex,
  issues: ConfigIssue[],
): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>()
  for (const { children: [key, value] = [] } of properties) {
    if (key === undefined || value === undefined) continue
    const name = String(key.value)
    const at = lines.at(key.offset)
    const here = [...path, name]
    const earlier = members.get(name)
    if (earlier !== undefined) {
      const message = `${JSON.stringify(name)} is a duplicate; it is first defined on line ${earlier.at.line}`
      issues.push({ severity: 'error', path: pathText(here), ...at, message })
      continue
    }
    members.set(name, { at, value: convert(value, here, lines, issues) })
  }
  return members
}
