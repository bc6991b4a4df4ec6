import { didYouMean, nearest } from '../../util/nearest.ts'
import { setMember } from '../../util/objects.ts'
import { callersWithoutTokens } from './auth/rules.ts'
import type { Report } from './checked-object.ts'
import { type ConfigInput, declaredInputs, withDefaults } from './dialects/inputs.ts'
import { isComment } from './dialects/nodes.ts'
import { type FoundFile, type FoundServer, translateFile } from './dialects/translate.ts'
import { type Environment, expand, type Places, type References } from './env.ts'
import { describeType, type FieldType } from './field.ts'
import { type ConfigIssue, type ConfigPath, type Position, pathText } from './issue.ts'
import { groupRules } from './rules.ts'
import { fieldsOf } from './schema.ts'
import type { ConfigNode, Member, ObjectNode } from './text.ts'
import { addressProblem, keyProblem, stringProblem } from './values.ts'

/** The result of checking a configuration file. */
export interface ConfigCheck {
  /** The settings of the router by field, with variables expanded, frozen. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly servers: readonly CheckedServer[]
  /** All issues that belong to no server. */
  readonly issues: readonly ConfigIssue[]
  /**
   * The strings with environment variables in displayable form, by path. In these paths the object of
   * servers is always named `servers`, whatever the file calls it.
   */
  readonly shown: ReadonlyMap<string, string>
  /** The inputs that are used and have no value, in file order. */
  readonly missingInputs: readonly ConfigInput[]
}

/** A server of a file, checked. */
export interface CheckedServer {
  readonly name: string
  /** The values by field, with variables expanded, frozen; complete only if no issue is an error. */
  readonly value: Readonly<Record<string, unknown>>
  readonly issues: readonly ConfigIssue[]
}

/** Options of {@link checkConfig}. */
export interface ConfigCheckOptions {
  readonly env: Environment
  readonly places?: Places
  /** Answers of the user to inputs, by id. */
  readonly inputs?: ReadonlyMap<string, string>
  /** The path of the file, which may name the host that it was written for. */
  readonly file?: string
  /** Whether to allow addresses that other machines can reach even if the file does not set `public`. */
  readonly allowPublic?: boolean
  /** Whether callers need tokens even if the file has no `auth`, as with `trunkline up --dev-auth`. */
  readonly hasCallerTokens?: boolean
}

/**
 * Translates a file from the terms of its host, checks its values against the field table and the cross-field
 * rules, and expands environment variables. Reports all problems, not only the first.
 */
export function checkConfig(root: ConfigNode, options: ConfigCheckOptions): ConfigCheck {
  const missing = new Set<string>()
  const asked: References = { ...options, onMissingInput: id => missing.add(id) }
  const references = root.type === 'object' ? withDefaults(asked, root) : asked
  const check = new Check(references, options)
  if (root.type !== 'object') {
    check.group(root, 'file', [])
    return { settings: {}, servers: [], missingInputs: [], ...check.results() }
  }
  const file = translateFile(root, references, options.file)
  const settings = check.settings(file) ?? {}
  const { issues } = check.results()
  const servers = file.servers.map(server => check.server(server))
  const viewIssues = unknownServers(root, settings.views, servers)
  const { shown } = check.results()
  const missingInputs = declaredInputs(root).filter(({ id }) => missing.has(id))
  return {
    settings,
    servers,
    issues: [
      ...file.issues,
      ...issues,
      ...viewIssues,
      ...callersWithoutTokens(root, settings.auth, servers, options.hasCallerTokens),
    ],
    shown,
    missingInputs,
  }
}

/** Checks a file that holds one group of the field table, and returns its value; undefined if it is no object. */
export function checkGroup(
  root: ConfigNode,
  named: string,
  { env }: Pick<ConfigCheckOptions, 'env'>,
): {
  readonly value: Record<string, unknown> | undefined
  readonly issues: readonly ConfigIssue[]
} {
  const check = new Check({ env })
  const value = check.group(root, named, [])
  return { value, issues: check.results().issues }
}

/** Warns of servers that a view names and that do not exist. */
function unknownServers(
  root: ObjectNode,
  views: unknown,
  servers: readonly CheckedServer[],
): readonly ConfigIssue[] {
  const at = root.members.get('views')?.at
  if (at === undefined) return []
  const known = servers.map(({ name }) => name)
  // The check: the field table admits only objects with a list of strings.
  const entries = Object.entries((views ?? {}) as Record<string, { servers?: readonly string[] }>)
  return entries.flatMap(([view, { servers: named = [] }]) =>
    named
      .filter(name => !name.includes('*') && !known.includes(name))
      .map(name => {
        const path = pathText(['views', view, 'servers'])
        const message = `${path}: there is no server ${JSON.stringify(name)}${didYouMean(name, known)}`
        return { severity: 'warning', ...at, path, message } as const
      }),
  )
}

/** One pass over a file. A method that returns undefined has reported why there is no value. */
class Check {
  #issues: ConfigIssue[] = []
  readonly #shown = new Map<string, string>()
  readonly #references: References
  readonly #allowPublic: boolean
  readonly #hasCallerTokens: boolean
  /** Whether the current values belong to a disabled server, whose variables may be unset. */
  #isDisabled = false
  /** Whether unknown keys are mistakes. In the file of another host they belong to the host. */
  #isOwn = true
  /** The current server, whose path is replaced in the paths of `shown`. */
  #server: FoundServer | undefined

  constructor(
    references: References,
    { allowPublic = false, hasCallerTokens = false }: Partial<ConfigCheckOptions> = {},
  ) {
    this.#references = references
    this.#allowPublic = allowPublic
    this.#hasCallerTokens = hasCallerTokens
  }

  results(): Pick<ConfigCheck, 'issues' | 'shown'> {
    return { issues: this.#issues, shown: this.#shown }
  }

  /** Checks the settings of the router. A setting of another host that looks like one of ours is not an error. */
  settings({ settings, isOwn }: FoundFile): Record<string, unknown> | undefined {
    this.#isOwn = isOwn
    const value = this.group(settings, 'file', [])
    if (!isOwn) {
      this.#issues = this.#issues.map(issue => ({ ...issue, severity: 'warning' }))
    }
    return value
  }

  /** Checks one server, apart from the others. */
  server(server: FoundServer): CheckedServer {
    this.#issues = [...server.issues]
    this.#server = server
    const value = this.group(server.node, 'server', server.path) ?? {}
    return { name: server.name, value, issues: this.#issues }
  }

  group(node: ConfigNode, named: string, path: ConfigPath): Record<string, unknown> | undefined {
    if (node.type !== 'object') return this.#wrongType(node, { kind: 'group', group: named }, path)
    const fields = fieldsOf(named)
    const disabled = node.members.get('disabled')?.value
    const wasDisabled = this.#isDisabled
    if (named === 'server') this.#isDisabled = disabled?.type === 'boolean' && disabled.value
    const value: Record<string, unknown> = {}
    for (const [key, member] of node.members) {
      if (isComment(key)) continue
      const field = fields.get(key)
      if (field === undefined) this.#unknownKey(key, member, named, path)
      else if (field.type.kind !== 'ignored') {
        const found = this.#value(member.value, field.type, [...path, key])
        if (found !== undefined) setMember(value, key, found)
      }
    }
    this.#rules(node, named, path, value)
    this.#isDisabled = wasDisabled
    return Object.freeze(value)
  }

  #rules(node: ObjectNode, named: string, path: ConfigPath, value: Record<string, unknown>): void {
    const report: Report = (key, message, severity = 'error') => {
      const at = key === undefined ? node.at : (node.members.get(key)?.at ?? node.at)
      const subject = path.length === 0 ? '' : `${pathText(path)}: `
      this.#report(severity, at, key === undefined ? path : [...path, key], subject + message)
    }
    const [allowPublic, hasCallerTokens] = [this.#allowPublic, this.#hasCallerTokens]
    groupRules.get(named)?.({ node, value, report, allowPublic, hasCallerTokens })
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
      if (isComment(key) || member.value.type === 'null') continue
      const here = [...path, key]
      const problem = keyProblem(key, type.keys, node.members.keys())
      if (problem !== undefined) this.#report('error', member.at, here, problem)
      const found = this.#value(member.value, type.of, here)
      if (found !== undefined) setMember(value, key, found)
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
    if (isPlain(node) && type.kind === 'string' && isFreeText(path)) return String(node.value)
    if (node.type !== 'string') return this.#wrongType(node, type, path)
    const { value, shown, problems, onlyMissing } = expand(node.value, this.#references)
    for (const problem of this.#isDisabled && onlyMissing ? [] : problems) {
      this.#report('error', node.at, path, `${pathText(path)}: ${problem}`)
    }
    if (shown !== undefined) this.#shown.set(pathText(this.#canonical(path)), shown)
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
    const here = [...path, key]
    const known = fieldsOf(named)
    const meant = nearest(key, known.keys())
    // A file of another host has keys that only the host uses, also in objects whose names are ours.
    if (!this.#isOwn && meant === undefined) {
      // Settings of the host beside the servers are ignored.
      if (named === 'file') return
      this.#report('warning', at, here, `${pathText(here)} is unknown; it is ignored`)
      return
    }
    const hint = meant
      ? `did you mean "${meant}"?`
      : `known keys are ${[...known.keys()].join(', ')}`
    const where = path.length === 0 ? '' : ` in ${pathText(path)}`
    const shortKey = key.length > 60 ? `${key.slice(0, 60)}…` : key
    this.#report('error', at, here, `unknown key ${JSON.stringify(shortKey)}${where}; ${hint}`)
  }

  /** Returns a path with the path of the server, as the file has it, replaced by `servers.NAME`. */
  #canonical(path: ConfigPath): ConfigPath {
    if (this.#server === undefined) return path
    return ['servers', this.#server.name, ...path.slice(this.#server.path.length)]
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
    this.#issues.push({ severity, ...at, path: pathText(path), message })
  }
}

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

/** Whether a value is a number or a boolean, which hosts accept as text. */
function isPlain(node: ConfigNode): node is ConfigNode & { type: 'number' | 'boolean' } {
  return node.type === 'number' || node.type === 'boolean'
}

/** Whether the path is an argument, a variable or a header of a server, which have no other type than text. */
function isFreeText(path: ConfigPath): boolean {
  return ['args', 'env', 'headers'].includes(String(path.at(-2)))
}
