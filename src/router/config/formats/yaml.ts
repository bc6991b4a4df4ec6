import { limits } from '../../../util/limits/limits.ts'
import {
  isAlias,
  isHostileYaml,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
} from '../../../util/yaml.ts'
import { type ConfigIssue, type ConfigPath, type Position, pathText } from '../issue.ts'
import { type ConfigNode, type ConfigText, issueAt, type Member, sizeIssue } from '../text.ts'

/**
 * Parses YAML into values with positions, within the limits of a configuration file. Aliases and merge keys are
 * resolved as long as the result has at most `configNodes` values. Never throws.
 */
export function readYamlText(source: string): ConfigText {
  const large = sizeIssue(source)
  if (large !== undefined) return { issues: [large] }
  if (isHostileYaml(source)) return { issues: [issueAt({ line: 1, column: 1 }, tooDeep)] }
  const lines = new LineCounter()
  try {
    const document = parseDocument(source, {
      lineCounter: lines,
      prettyErrors: false,
      logLevel: 'error',
    })
    const [error] = document.errors
    if (error !== undefined) {
      return {
        issues: [issueAt(positionAt(lines, error.pos[0]), `invalid YAML: ${error.message}`)],
      }
    }
    const conversion = new Conversion(lines)
    const root = conversion.convert(document.contents, [])
    const { issues } = conversion
    return issues.length > 0 ? { issues: issues.slice(0, 1) } : { root, issues }
  } catch (error) {
    // The parser recurses for every level.
    const isDeep = error instanceof RangeError
    return { issues: [issueAt({ line: 1, column: 1 }, isDeep ? tooDeep : 'invalid YAML')] }
  }
}

const tooDeep = `mappings and sequences are nested more than ${limits.configDepth.default} levels deep`
const tooMany = `the file has more than ${limits.configNodes.default} values, counting those that aliases repeat`

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(1, line), column: Math.max(1, col) }
}

/** A value with an anchor: how many values it holds, and how many levels. */
interface Anchored {
  readonly value: ConfigNode
  readonly size: number
  readonly height: number
}

/** Converts the nodes of a document, and counts them: an alias may stand for many values. */
class Conversion {
  readonly issues: ConfigIssue[] = []
  readonly #lines: LineCounter
  /** The latest value of each anchor, converted once, so that an alias costs nothing but its count. */
  readonly #anchors = new Map<string, Anchored>()
  #count = 0
  #deepest = 0

  constructor(lines: LineCounter) {
    this.#lines = lines
  }

  convert(node: Node | null | undefined, path: ConfigPath, depth = 0): ConfigNode {
    const at = positionAt(this.#lines, node?.range?.[0] ?? 0)
    if (this.issues.length > 0) return { type: 'null', at }
    if (!this.#countUp(at, 1, depth)) return { type: 'null', at }
    if (isAlias(node)) return this.#aliased(node.source, at, depth)
    const [count, deepest] = [this.#count, this.#deepest]
    this.#deepest = depth
    const value = this.#value(node, at, path, depth)
    if ((isMap(node) || isSeq(node) || isScalar(node)) && node.anchor !== undefined) {
      const [size, height] = [this.#count - count + 1, this.#deepest - depth]
      this.#anchors.set(node.anchor, { value, size, height })
    }
    this.#deepest = Math.max(deepest, this.#deepest)
    return value
  }

  #value(node: Node | null | undefined, at: Position, path: ConfigPath, depth: number): ConfigNode {
    if (isSeq<Node>(node)) {
      const items = node.items.map((item, index) => this.convert(item, [...path, index], depth + 1))
      return { type: 'list', at, items }
    }
    if (isMap<Node, Node | null>(node)) {
      return { type: 'object', at, members: this.#members(node.items, path, depth) }
    }
    const value = isScalar(node) ? node.value : null
    if (typeof value === 'boolean') return { type: 'boolean', at, value }
    if (typeof value === 'number') return { type: 'number', at, value }
    return value === null ? { type: 'null', at } : { type: 'string', at, value: String(value) }
  }

  #aliased(anchor: string, at: Position, depth: number): ConfigNode {
    const found = this.#anchors.get(anchor)
    if (found === undefined) return this.#refuse(at, 'an alias must not refer to a value around it')
    this.#countUp(at, found.size, depth + found.height)
    return found.value
  }

  /** Returns false, and reports why, if a limit is exceeded. */
  #countUp(at: Position, size: number, depth: number): boolean {
    this.#count += size
    this.#deepest = Math.max(this.#deepest, depth)
    if (depth > limits.configDepth.default) this.#refuse(at, tooDeep)
    else if (this.#count > limits.configNodes.default) this.#refuse(at, tooMany)
    return this.issues.length === 0
  }

  #members(
    pairs: readonly Pair<Node, Node | null>[],
    path: ConfigPath,
    depth: number,
  ): ReadonlyMap<string, Member> {
    const members = new Map<string, Member>()
    const merged: ConfigNode[] = []
    for (const { key, value } of pairs) {
      if (this.issues.length > 0) break
      const name = isScalar(key) ? String(key.value) : undefined
      const at = positionAt(this.#lines, key.range?.[0] ?? 0)
      if (name === undefined) this.#refuse(at, 'a key must be a string')
      else if (name === '<<') merged.push(this.convert(value, path, depth + 1))
      else members.set(name, { at, value: this.convert(value, [...path, name], depth + 1) })
    }
    // Own members win over merged ones, and earlier merged ones over later ones.
    for (const source of merged.flatMap(node => (node.type === 'list' ? node.items : [node]))) {
      if (source.type !== 'object') continue
      for (const [name, member] of source.members) if (!members.has(name)) members.set(name, member)
    }
    return members
  }

  #refuse(at: Position, message: string): ConfigNode {
    if (this.issues.length === 0) this.issues.push({ ...issueAt(at, message), path: pathText([]) })
    return { type: 'null', at }
  }
}
