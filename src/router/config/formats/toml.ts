import { parse, TomlError } from 'smol-toml'
import { limits } from '../../../util/limits/limits.ts'
import { type ConfigIssue, type ConfigPath, type Position, pathText } from '../issue.ts'
import { type ConfigNode, type ConfigText, issueAt, type Member, sizeIssue } from '../text.ts'
import { tomlPositions } from './toml-positions.ts'

/** Parses TOML into values with positions, within the limits of a configuration file. Never throws. */
export function readTomlText(source: string): ConfigText {
  const text = source.replace(/^\uFEFF/, '')
  const large = sizeIssue(text)
  if (large !== undefined) return { issues: [large] }
  try {
    const issues: ConfigIssue[] = []
    const root = new Conversion(tomlPositions(text), issues).convert(parse(text), [])
    return issues.length > 0 ? { issues } : { root, issues }
  } catch (error) {
    return { issues: [syntaxIssue(error)] }
  }
}

function syntaxIssue(error: unknown): ConfigIssue {
  if (error instanceof TomlError) {
    const { line, column } = error
    // The rest of the message is an excerpt, which may hold secrets.
    const [reason = ''] = error.message.split('\n')
    return issueAt({ line, column }, reason.replace(/^Invalid TOML document: /, 'invalid TOML: '))
  }
  // The parser recurses for every level.
  if (error instanceof RangeError) return tooDeep({ line: 1, column: 1 })
  return issueAt({ line: 1, column: 1 }, 'invalid TOML')
}

function tooDeep(at: Position): ConfigIssue {
  return issueAt(
    at,
    `tables and arrays are nested more than ${limits.configDepth.default} levels deep`,
  )
}

/** Converts parsed values. Positions are those of the nearest key that has one. */
class Conversion {
  readonly #positions: ReadonlyMap<string, Position>
  readonly #issues: ConfigIssue[]

  constructor(positions: ReadonlyMap<string, Position>, issues: ConfigIssue[]) {
    this.#positions = positions
    this.#issues = issues
  }

  convert(value: unknown, path: ConfigPath): ConfigNode {
    const at = this.#at(path)
    if (path.length > limits.configDepth.default) {
      this.#issues.push(tooDeep(at))
      return { type: 'null', at }
    }
    if (typeof value === 'string') return { type: 'string', at, value }
    if (typeof value === 'number') return { type: 'number', at, value }
    if (typeof value === 'boolean') return { type: 'boolean', at, value }
    if (Array.isArray(value)) {
      const items = value.map((item, index) => this.convert(item, [...path, index]))
      return { type: 'list', at, items }
    }
    // A date is text for every field of ours.
    if (value instanceof Date) return { type: 'string', at, value: value.toISOString() }
    const members = Object.entries(value as object).map(([key, member]): [string, Member] => {
      const here = [...path, key]
      return [key, { at: this.#at(here), value: this.convert(member, here) }]
    })
    return { type: 'object', at, members: new Map(members) }
  }

  #at(path: ConfigPath): Position {
    for (let length = path.length; length > 0; length--) {
      const found = this.#positions.get(pathText(path.slice(0, length)))
      if (found !== undefined) return found
    }
    return { line: 1, column: 1 }
  }
}
