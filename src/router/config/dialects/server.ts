import { type Expanded, expand, type References } from '../env.ts'
import { type ConfigIssue, type ConfigPath, pathText } from '../issue.ts'
import { fieldsOf } from '../schema.ts'
import type { ConfigNode, Member, ObjectNode } from '../text.ts'
import { splitCommand } from './command.ts'
import { conversions } from './conversions.ts'
import type { HostDialect, KeyRule } from './dialect.ts'
import { parseEnvFile } from './env-file.ts'
import { serverKeys, unknownTimeout } from './keys.ts'
import { isComment, isObject, mapStrings, memberOf, objectNode, stringNode } from './nodes.ts'

/** A server in our own terms, and what was said about its translation. */
export interface TranslatedServer {
  readonly node: ObjectNode
  readonly issues: readonly ConfigIssue[]
}

/** Translates the entry of a server into the fields of the router. Unknown keys are left as they are. */
export function translateServer(
  node: ObjectNode,
  path: ConfigPath,
  dialect: HostDialect,
  references: References,
): TranslatedServer {
  const translation = new Translation(path, dialect, references)
  translation.add(rewritten(node, dialect))
  translation.finish()
  return { node: objectNode(node.at, translation.members), issues: translation.issues }
}

/** Replaces references in the syntax of the host by ours. */
function rewritten(node: ObjectNode, { references = [] }: HostDialect): ObjectNode {
  if (references.length === 0) return node
  const mapped = mapStrings(node, text =>
    references.reduce((result, [pattern, by]) => result.replace(pattern, by), text),
  )
  return isObject(mapped) ? mapped : node
}

/** The translation of one server. */
class Translation {
  readonly members = new Map<string, Member>()
  readonly issues: ConfigIssue[] = []
  readonly #path: ConfigPath
  readonly #dialect: HostDialect
  readonly #references: References

  constructor(path: ConfigPath, dialect: HostDialect, references: References) {
    this.#path = path
    this.#dialect = dialect
    this.#references = references
  }

  /** Adds the members of an entry: first those under our own names, which win. */
  add(node: ObjectNode): void {
    const foreign: [string, Member, KeyRule][] = []
    for (const [key, member] of node.members) {
      // Generated files have null for what is absent.
      if (isComment(key) || member.value.type === 'null') continue
      const rule = this.#ruleOf(key, member.value)
      if (rule === undefined) this.members.set(key, member)
      else foreign.push([key, member, rule])
    }
    for (const [key, member, rule] of foreign) this.#apply(key, member, rule)
  }

  /** Brings the program and its arguments into our form. */
  finish(): void {
    const command = this.members.get('command')?.value
    if (command?.type === 'list') this.#setCommand(command.items.map(memberOf))
    else if (isObject(command)) this.#spreadCommand(command)
    else if (command?.type === 'string') this.#splitCommand(command.value)
    this.#dropEmptyTargets()
  }

  #ruleOf(key: string, value: ConfigNode): KeyRule | undefined {
    const own = this.#dialect.keys?.get(key)
    const isOurs = fieldsOf('server').has(key) && (key !== 'auth' || isOurAuth(value))
    if (own !== undefined || isOurs) return own
    if (key !== 'timeout') return serverKeys.get(key)
    const { timeout } = this.#dialect
    if (timeout === undefined) return unknownTimeout
    return { kind: 'field', field: ['timeoutMs'], as: timeout }
  }

  #apply(key: string, member: Member, rule: KeyRule): undefined {
    switch (rule.kind) {
      case 'field':
        return this.#set(key, rule.field, { ...member, value: conversions[rule.as](member.value) })
      case 'members':
        if (isObject(member.value)) this.add(member.value)
        return undefined
      case 'ignored':
        return this.#say(rule.severity, key, member, rule.why)
      case 'refused':
        return this.#say('error', key, member, rule.why)
      case 'envFile':
        return this.#addEnvFile(key, member)
    }
  }

  /** Sets a field, or a member of one. Objects and lists are merged; otherwise the value that is there wins. */
  #set(key: string, [field = '', inner]: ConfigPath, member: Member): undefined {
    const { value } = member
    const name = String(field)
    const before = this.members.get(name)?.value
    const what = pathText(inner === undefined ? [name] : [name, inner])
    if (inner !== undefined) {
      const rules = before?.type === 'list' ? new Map([['allow', memberOf(before)]]) : undefined
      const members = rules ?? (isObject(before) ? new Map(before.members) : new Map())
      const earlier = members.get(String(inner))?.value
      // An empty list of hidden tools hides nothing.
      if (value.type === 'list' && value.items.length === 0 && inner === 'deny') return
      const both = earlier?.type === 'list' && value.type === 'list'
      const merged = both ? { ...value, items: [...earlier.items, ...value.items] } : value
      members.set(String(inner), { at: member.at, value: merged })
      this.members.set(name, { at: member.at, value: objectNode(member.at, members) })
    } else if (before === undefined) this.members.set(name, member)
    else if (isObject(before) && isObject(value)) {
      const merged = objectNode(before.at, [...value.members, ...before.members])
      this.members.set(name, { at: before.at, value: merged })
    } else if (before.type === 'list' && value.type === 'list') {
      const merged = { ...before, items: [...before.items, ...value.items] }
      this.members.set(name, { at: before.at, value: merged })
    } else if (!isSameText(before, value)) {
      return this.#say('warning', key, member, `is ignored, because ${what} is set`)
    }
    this.#say('note', key, member, `is taken as ${what}`)
  }

  #addEnvFile(key: string, member: Member): undefined {
    const { places } = this.#references
    const { at, value } = member
    if (value.type !== 'string') return this.#say('error', key, member, 'must be a string')
    if (places === undefined) {
      const instead = 'set the variables in env or name them in inheritEnv'
      return this.#say('error', key, member, `is not supported; ${instead}`)
    }
    const expanded: Expanded = expand(value.value, this.#references)
    const [problem] = expanded.problems
    if (problem !== undefined) return this.#say('error', key, member, `cannot be read: ${problem}`)
    try {
      const variables = parseEnvFile(places.readText(expanded.value))
      // The values are literal.
      const members = Array.from(variables, ([name, text]) => {
        const node = stringNode(
          at,
          text.replaceAll('${', () => '$${'),
        )
        return [name, { at, value: node }] as const
      })
      this.#set(key, ['env'], { at, value: objectNode(at, members) })
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown reason'
      this.#say('error', key, member, `cannot be read: ${reason}`)
    }
  }

  /** Sets the program and its arguments, before the arguments that are there. */
  #setCommand([command, ...args]: readonly Member[]): void {
    if (command === undefined) return
    const before = this.members.get('args')
    const rest = before?.value.type === 'list' ? before.value.items : []
    this.members.set('command', command)
    if (args.length + rest.length === 0) return
    const items = [...args.map(({ value }) => value), ...rest]
    const at = before?.at ?? command.at
    this.members.set('args', { at, value: { type: 'list', at, items } })
  }

  /** An object `{ path, args, env }`, as older versions of Zed write it. */
  #spreadCommand(command: ObjectNode): void {
    this.members.delete('command')
    const { path, ...rest } = Object.fromEntries(command.members)
    const members = Object.entries({ ...(path && { command: path }), ...rest })
    this.add(objectNode(command.at, members))
  }

  #splitCommand(text: string): undefined {
    const split = splitCommand(text)
    const member = this.members.get('command')
    if (split === undefined || member === undefined) return
    const { command, args, isCertain } = split
    const meaning = `command ${JSON.stringify(command)}, args ${JSON.stringify(args)}`
    if (!isCertain)
      return this.#say('warning', 'command', member, `contains a space; did you mean ${meaning}?`)
    this.#setCommand([command, ...args].map(word => memberOf(stringNode(member.value.at, word))))
    this.#say('warning', 'command', member, `is taken as ${meaning}`)
  }

  /** Removes an empty address beside a program, and the other way round, as generated files have them. */
  #dropEmptyTargets(): void {
    const targets = ['command', 'url'].filter(key => this.members.has(key))
    if (targets.length < 2) return
    for (const key of targets) {
      const value = this.members.get(key)?.value
      if (value?.type === 'string' && value.value.trim() === '') this.members.delete(key)
    }
  }

  #say(severity: ConfigIssue['severity'], key: string, { at }: Member, message: string): undefined {
    const path = pathText([...this.#path, key])
    this.issues.push({ severity, ...at, path, message: `${path} ${message}` })
  }
}

function isSameText(one: Member['value'], other: Member['value']): boolean {
  return one.type === 'string' && other.type === 'string' && one.value === other.value
}

/** Whether `auth` of a server is in our form. Other hosts have other objects under this name. */
function isOurAuth(value: ConfigNode): boolean {
  if (isObject(value))
    return [...fieldsOf('serverAuth').keys()].some(name => value.members.has(name))
  return value.type === 'string' && value.value === 'stored'
}
