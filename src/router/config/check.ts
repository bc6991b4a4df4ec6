import { nearest } from '../../util/nearest.ts'
import { type Environment, expand } from './env.ts'
import { describeType, type FieldType } from './field.ts'
import { type ConfigIssue, type ConfigPath, type Position, pathText } from './issue.ts'
import { foreignFileKeys, foreignServerKeys } from './other-hosts.ts'
import { groupRules, type ObjectNode, type Report } from './rules.ts'
import { fieldsOf } from './schema.ts'
import type { ConfigNode, Member } from './text.ts'
import { addressProblem, keyProblem, stringProblem } from './values.ts'

/** The result of checking a configuration file. */
export interface ConfigCheck {
  /** The values by field, with variables expanded, frozen; complete only if no issue is an error. */
  readonly value: Readonly<Record<string, unknown>>
  /** All issues, in the order of the file. */
  readonly issues: readonly ConfigIssue[]
  /**
   * The strings with environment variables in displayable form, by path. In these paths the object of
   * servers is always named `servers`, whether the file has `servers` or `mcpServers`.
   */
  readonly shown: ReadonlyMap<string, string>
}

/** Options of {@link checkConfig}. */
export interface CheckOptions {
  readonly env: Environment
  /** Whether to allow addresses that other machines can reach even if the file does not set `public`. */
  readonly allowPublic?: boolean
}

/**
 * Checks the values of a file against the field table and the cross-field rules, and expands environment
 * variables. Reports all problems, not only the first.
 */
export function checkConfig(root: ConfigNode, options: CheckOptions): ConfigCheck {
  const check = new Check(options)
  const value = check.group(root, 'file', [])
  check.issues.sort((one, other) => one.line - other.line || one.column - other.column)
  return { value: value ?? {}, issues: check.issues, shown: check.shown }
}

/** One pass over a file. A method that returns undefined has reported why there is no value. */
class Check {
  readonly issues: ConfigIssue[] = []
  readonly shown = new Map<string, string>()
  readonly #env: Environment
  readonly #allowPublic: boolean
  /** Whether the current values belong to a disabled server, whose variables may be unset. */
  #isDisabled = false

  constructor({ env, allowPublic = false }: CheckOptions) {
    this.#env = env
    this.#allowPublic = allowPublic
  }

  group(node: ConfigNode, named: string, path: ConfigPath): Record<string, unknown> | undefined {
    if (node.type !== 'object') return this.#wrongType(node, { kind: 'group', group: named }, path)
    const fields = fieldsOf(named)
    const disabled = node.members.get('disabled')?.value
    const wasDisabled = this.#isDisabled
    if (named === 'server') this.#isDisabled = disabled?.type === 'boolean' && disabled.value
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
    this.#isDisabled = wasDisabled
    return Object.freeze(value)
  }

  #rules(node: ObjectNode, named: string, path: ConfigPath, value: Record<string, unknown>): void {
    const report: Report = (key, message) => {
      const at = key === undefined ? node.at : (node.members.get(key)?.at ?? node.at)
      const subject = path.length === 0 ? '' : `${pathText(path)}: `
      this.#report('error', at, key === undefined ? path : [...path, key], subject + message)
    }
    groupRules.get(named)?.({ node, value, report, allowPublic: this.#allowPublic })
  }

  #value(node: ConfigNode, type: FieldType, path: ConfigPath): unknown {
    switch (type.kind) {
      case 'union': {
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
      case 'string':
      case 'address':
      case 'enum':
        return this.#string(node, type, path)
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
    const { minItems = 0 } = type
    if (node.items.length < minItems) this.#wrong(node, path, 'is empty')
    const items = node.items.map((item, at) => this.#value(item, type.of, [...path, at]))
    return Object.freeze(items.filter(item => item !== undefined))
  }

  #map(node: ConfigNode, type: FieldType & { kind: 'map' }, path: ConfigPath): unknown {
    if (node.type !== 'object') return this.#wrongType(node, type, path)
    // The author of the file chooses the keys, so the object must not inherit any.
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
    if (isIn && (!type.integer || Number.isSafeInteger(value))) return value
    return this.#wrong(node, path, `must be ${describeType(type)} (got ${value})`)
  }

  #string(
    node: ConfigNode,
    type: FieldType & { kind: 'string' | 'address' | 'enum' },
    path: ConfigPath,
  ): unknown {
    if (node.type !== 'string') return this.#wrongType(node, type, path)
    const { value, shown, problems, onlyMissing } = expand(node.value, this.#env)
    for (const problem of this.#isDisabled && onlyMissing ? [] : problems) {
      this.#report('error', node.at, path, `${pathText(path)}: ${problem}`)
    }
    if (shown !== undefined) this.shown.set(pathText(canonical(path)), shown)
    // An unresolved reference would only be reported a second time.
    if (problems.length > 0) return value
    if (type.kind === 'enum') return this.#enum(node, type, path, value, shown === undefined)
    const problem =
      type.kind === 'string' ? stringProblem(value, type.rule) : addressProblem(value, type.use)
    return problem === undefined ? value : this.#wrong(node, path, problem)
  }

  #enum(
    node: ConfigNode,
    type: FieldType & { kind: 'enum' },
    path: ConfigPath,
    value: string,
    isDisplayable: boolean,
  ): unknown {
    const word = type.aliases?.get(value) ?? value
    if (type.values.includes(word)) return word
    const written = isDisplayable ? ` (got ${JSON.stringify(value.slice(0, 40))})` : ''
    const meant = isDisplayable ? nearest(value, type.values) : undefined
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`
    return this.#wrong(node, path, `must be ${describeType(type)}${written}${hint}`)
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
    const hint = meant
      ? `did you mean "${meant}"?`
      : `known keys are ${[...known.keys()].join(', ')}`
    const where = path.length === 0 ? '' : ` in ${pathText(path)}`
    const shortKey = key.length > 60 ? `${key.slice(0, 60)}…` : key
    this.#report('error', at, here, `unknown key ${JSON.stringify(shortKey)}${where}; ${hint}`)
  }

  #wrongType(node: ConfigNode, type: FieldType, path: ConfigPath): undefined {
    const subject = path.length === 0 ? 'the file' : pathText(path)
    const found = node.type === 'null' ? 'null; omit it instead' : nouns[node.type]
    this.#report('error', node.at, path, `${subject} must be ${describeType(type)} (got ${found})`)
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
  list: 'an array',
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
}

/** Whether a value has the JSON type that a field type requires; its contents may still be invalid. */
function accepts(type: FieldType, node: ConfigNode): boolean {
  switch (type.kind) {
    case 'string':
    case 'address':
    case 'enum':
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
    case 'union':
      return type.of.some(option => accepts(option, node))
    case 'member':
      return accepts(type.of, node)
    case 'ignored':
      return true
  }
}

/** Returns the path with `mcpServers` normalized to `servers`. */
function canonical(path: ConfigPath): ConfigPath {
  return path[0] === 'mcpServers' ? ['servers', ...path.slice(1)] : path
}
