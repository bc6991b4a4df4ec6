import { nearest } from '../../util/nearest.ts'
import { addressProblem } from './address.ts'
import { type Environment, expand } from './env.ts'
import { type FieldType, typeWords } from './field.ts'
import { type ConfigIssue, type ConfigPath, type Position, pathText } from './issue.ts'
import { keyProblem, textProblem } from './names.ts'
import { foreignFileKeys, foreignServerKeys } from './other-hosts.ts'
import { groupRules, type ObjectNode, type Report } from './rules.ts'
import { fieldsOf } from './schema.ts'
import type { ConfigNode, Member } from './text.ts'

/** What a check found. */
export interface ConfigCheck {
  /** The values by field, variables replaced, frozen; complete only where no issue is an error. */
  readonly value: Readonly<Record<string, unknown>>
  /** All issues, in the order of the file. */
  readonly issues: readonly ConfigIssue[]
  /**
   * The texts that environment variables went into, as they may be shown, by path. The object of
   * servers is called `servers` in these paths whatever the file calls it.
   */
  readonly shown: ReadonlyMap<string, string>
}

/** What a check depends on besides the file. */
export interface CheckOptions {
  readonly env: Environment
  /** That addresses which other machines can reach are fine, whatever the file says of `public`. */
  readonly mayBePublic?: boolean
}

/**
 * Checks the values of a file against the table of fields and against each other, and replaces the
 * environment variables in them. Finds everything that is wrong, not only the first.
 */
export function checkConfig(root: ConfigNode, options: CheckOptions): ConfigCheck {
  const check = new Check(options)
  const value = check.group(root, 'file', [])
  check.issues.sort((one, other) => one.line - other.line || one.column - other.column)
  return { value: value ?? {}, issues: check.issues, shown: check.shown }
}

/** One run through a file. A method returns undefined where it has reported why there is no value. */
class Check {
  readonly issues: ConfigIssue[] = []
  readonly shown = new Map<string, string>()
  readonly #env: Environment
  readonly #mayBePublic: boolean
  /** Whether the values are those of a server that is switched off: its variables may be missing. */
  #isOff = false

  constructor({ env, mayBePublic = false }: CheckOptions) {
    this.#env = env
    this.#mayBePublic = mayBePublic
  }

  group(node: ConfigNode, named: string, path: ConfigPath): Record<string, unknown> | undefined {
    if (node.type !== 'object') return this.#wrongType(node, { kind: 'group', group: named }, path)
    const fields = fieldsOf(named)
    const off = node.members.get('disabled')?.value
    const wasOff = this.#isOff
    if (named === 'server') this.#isOff = off?.type === 'boolean' && off.value
    const value: Record<string, unknown> = {}
    for (const [key, member] of node.members) {
      const field = fields.get(key)
      if (field === undefined) this.#unknownKey(key, member, named, path)
      else if (field.type.kind !== 'ignored') {
        const found = this.#value(member.value, field.type, [...path, key])
        if (found !== undefined) value[key] = found
      }
    }
    this.#rules(node, named, path, value)
    this.#isOff = wasOff
    return Object.freeze(value)
  }

  #rules(node: ObjectNode, named: string, path: ConfigPath, value: Record<string, unknown>): void {
    const report: Report = (key, message) => {
      const at = key === undefined ? node.at : (node.members.get(key)?.at ?? node.at)
      const subject = path.length === 0 ? '' : `${pathText(path)}: `
      this.#report('error', at, key === undefined ? path : [...path, key], subject + message)
    }
    groupRules.get(named)?.({ node, value, report, mayBePublic: this.#mayBePublic })
  }

  #value(node: ConfigNode, type: FieldType, path: ConfigPath): unknown {
    switch (type.kind) {
      case 'either': {
        const chosen = type.of.find(option => accepts(option, node))
        return chosen ? this.#value(node, chosen, path) : this.#wrongType(node, type, path)
      }
      case 'member': {
        const found = this.#value(node, type.of, [...path, type.name])
        return found === undefined ? undefined : Object.freeze({ [type.name]: found })
      }
      case 'group':
        return this.group(node, type.group, path)
      case 'list':
        return this.#list(node, type, path)
      case 'map':
        return this.#map(node, type, path)
      case 'number':
        return this.#number(node, type, path)
      case 'text':
      case 'address':
      case 'word':
        return this.#text(node, type, path)
      case 'boolean':
      case 'false':
        return accepts(type, node) && node.type === 'boolean'
          ? node.value
          : this.#wrongType(node, type, path)
      case 'ignored':
        return undefined
    }
  }

  #list(node: ConfigNode, type: FieldType & { kind: 'list' }, path: ConfigPath): unknown {
    if (node.type !== 'list') return this.#wrongType(node, type, path)
    const { atLeast = 0 } = type
    if (node.items.length < atLeast) this.#wrong(node, path, 'is empty')
    const items = node.items.map((item, at) => this.#value(item, type.of, [...path, at]))
    return Object.freeze(items.filter(item => item !== undefined))
  }

  #map(node: ConfigNode, type: FieldType & { kind: 'map' }, path: ConfigPath): unknown {
    if (node.type !== 'object') return this.#wrongType(node, type, path)
    // Whoever writes the file chooses the names, and nothing must be inherited among them.
    const value: Record<string, unknown> = Object.create(null)
    for (const [key, member] of node.members) {
      const here = [...path, key]
      const problem = keyProblem(key, type.keys, node.members.keys())
      if (problem !== undefined) this.#report('error', member.at, here, problem)
      const found = this.#value(member.value, type.of, here)
      if (found !== undefined) value[key] = found
    }
    return Object.freeze(value)
  }

  #number(node: ConfigNode, type: FieldType & { kind: 'number' }, path: ConfigPath): unknown {
    if (node.type !== 'number') return this.#wrongType(node, type, path)
    const { value } = node
    const isIn = value >= type.min && value <= type.max
    if (isIn && (!type.whole || Number.isSafeInteger(value))) return value
    return this.#wrong(node, path, `must be ${typeWords(type)}, not ${value}`)
  }

  #text(
    node: ConfigNode,
    type: FieldType & { kind: 'text' | 'address' | 'word' },
    path: ConfigPath,
  ): unknown {
    if (node.type !== 'string') return this.#wrongType(node, type, path)
    const { value, shown, problems, onlyMissing } = expand(node.value, this.#env)
    for (const problem of this.#isOff && onlyMissing ? [] : problems) {
      this.#report('error', node.at, path, `${pathText(path)}: ${problem}`)
    }
    if (shown !== undefined) this.shown.set(pathText(canonical(path)), shown)
    // What stands for a missing value would only be found to be wrong once more.
    if (problems.length > 0) return value
    if (type.kind === 'word') return this.#word(node, type, path, value, shown === undefined)
    const problem =
      type.kind === 'text' ? textProblem(value, type.rule) : addressProblem(value, type.use)
    return problem === undefined ? value : this.#wrong(node, path, problem)
  }

  #word(
    node: ConfigNode,
    type: FieldType & { kind: 'word' },
    path: ConfigPath,
    value: string,
    mayBeShown: boolean,
  ): unknown {
    const word = type.also?.get(value) ?? value
    if (type.words.includes(word)) return word
    const written = mayBeShown ? `, not ${JSON.stringify(value.slice(0, 40))}` : ''
    const meant = mayBeShown ? nearest(value, type.words) : undefined
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`
    return this.#wrong(node, path, `must be ${typeWords(type)}${written}${hint}`)
  }

  #unknownKey(key: string, { at }: Member, named: string, path: ConfigPath): void {
    const foreign = foreignKeys.get(named)?.get(key)
    const here = [...path, key]
    if (foreign !== undefined) {
      this.#report(foreign.severity, at, here, `${pathText(here)} ${foreign.message}`)
      return
    }
    const known = fieldsOf(named)
    const meant = nearest(key, known.keys())
    const hint = meant ? `did you mean "${meant}"?` : `known are ${[...known.keys()].join(', ')}`
    const where = path.length === 0 ? '' : ` in ${pathText(path)}`
    const shortKey = key.length > 60 ? `${key.slice(0, 60)}…` : key
    this.#report('error', at, here, `unknown key ${JSON.stringify(shortKey)}${where}; ${hint}`)
  }

  #wrongType(node: ConfigNode, type: FieldType, path: ConfigPath): undefined {
    const subject = path.length === 0 ? 'the file' : pathText(path)
    const found = node.type === 'null' ? 'null; leave it out instead' : nouns[node.type]
    this.#report('error', node.at, path, `${subject} must be ${typeWords(type)}, not ${found}`)
  }

  #wrong(node: ConfigNode, path: ConfigPath, problem: string): undefined {
    this.#report('error', node.at, path, `${pathText(path)} ${problem}`)
  }

  #report(severity: 'error' | 'warning', at: Position, path: ConfigPath, message: string): void {
    this.issues.push({ severity, ...at, path: pathText(path), message })
  }
}

const foreignKeys = new Map([
  ['file', foreignFileKeys],
  ['server', foreignServerKeys],
])

const nouns = {
  object: 'an object',
  list: 'a list',
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
}

/** Whether a value is of the sort that a type is about, whatever else may be wrong with it. */
function accepts(type: FieldType, node: ConfigNode): boolean {
  switch (type.kind) {
    case 'text':
    case 'address':
    case 'word':
      return node.type === 'string'
    case 'number':
    case 'boolean':
    case 'list':
      return node.type === type.kind
    case 'false':
      return node.type === 'boolean' && !node.value
    case 'map':
    case 'group':
      return node.type === 'object'
    case 'either':
      return type.of.some(option => accepts(option, node))
    case 'member':
      return accepts(type.of, node)
    case 'ignored':
      return true
  }
}

/** A path that does not depend on which of its two names the object of servers has. */
function canonical(path: ConfigPath): ConfigPath {
  return path[0] === 'mcpServers' ? ['servers', ...path.slice(1)] : path
}
