import { cut } from './expand.ts'
import {
  type Expression,
  normalized,
  type Operator,
  type TemplatePart,
  type Variable,
} from './parse.ts'

/** A position in a template where a value can be found, and the text that must follow it. */
export interface Slot {
  /** The character that starts an optional value; −1 if the value is required. */
  readonly opener: number
  /** By character code: whether it may be part of the value. */
  readonly allowed: Uint8Array
  readonly after: string
  /** Stores the matched text, without its opener; returns false if it is not a valid value. */
  readonly take: (text: string, findings: Findings) => boolean
}

/** The values found so far, by variable. */
export type Findings = Map<
  string,
  { readonly variable: Variable; readonly values: readonly string[] }
>

/** The maximum number of slots in a template. */
export const maxSlots = 16

/**
 * Returns the text of a template before its first slot, and its slots. Throws a TypeError if there are
 * too many slots to search for.
 */
export function slotsOf(parts: readonly TemplatePart[]): {
  readonly prefix: string
  readonly slots: readonly Slot[]
} {
  let prefix = ''
  let inQuery = false
  const slots: (Slot & { after: string })[] = []
  const text = (literal: string): void => {
    const last = slots.at(-1)
    if (last === undefined) prefix += literal
    else last.after += literal
    inQuery ||= literal.includes('?')
  }
  for (const part of joined(parts)) {
    if (typeof part === 'string') text(normalized(part) ?? part)
    else if (isIntroduced(part.operator)) {
      slots.push(introduced(part))
      inQuery ||= part.operator === '?'
    } else {
      part.variables.forEach((variable, i) => {
        if (part.operator === '.' || part.operator === '/') text(part.operator)
        else if (i > 0) text(',')
        slots.push(positional(part, variable, inQuery))
      })
    }
  }
  if (slots.length > maxSlots) {
    throw new TypeError(`a URI template must not have more than ${maxSlots} values to find`)
  }
  return { prefix, slots }
}

/** Merges adjacent expressions: for matching, `{?a}{&b}` is the same as `{?a,b}`. */
function joined(parts: readonly TemplatePart[]): TemplatePart[] {
  const result: TemplatePart[] = []
  for (const part of parts) {
    const last = result.at(-1)
    if (
      typeof part !== 'string' &&
      typeof last === 'object' &&
      ((part.operator === '&' && (last.operator === '?' || last.operator === '&')) ||
        (part.operator === ';' && last.operator === ';'))
    ) {
      const variables = [...last.variables, ...part.variables]
      result[result.length - 1] = { operator: last.operator, variables }
    } else {
      result.push(part)
    }
  }
  return result
}

function isIntroduced(operator: Operator): boolean {
  return operator === '?' || operator === '&' || operator === ';' || operator === '#'
}

/** Creates the slot of a value that is identified by its position: `{x}`, `{+x}`, `{.x}`, `{/x}`. */
function positional(
  { operator, variables }: Expression,
  variable: Variable,
  inQuery: boolean,
): Slot {
  const separator = operator === '.' || operator === '/' ? operator : ','
  let except = inQuery ? '/?#&' : '/?#'
  if (operator === '+') except = ''
  else if (operator === '/' && variable.explode) except = '?#'
  // The comma separates several values, and is part of none.
  else if (operator === '' && variables.length > 1 && !variable.explode) except += ','
  const decode = inQuery ? decoded : decodedInPath
  return {
    opener: -1,
    allowed: allBut(except),
    after: '',
    take: (text, findings) => {
      const raw = variable.explode ? text.split(separator) : [text]
      const values = raw.map(decode)
      return isComplete(values) && put(findings, variable, values)
    },
  }
}

/** Creates the slot of optional values after an operator character: `{?x}`, `{&x}`, `{;x}`, `{#x}`. */
function introduced({ operator, variables }: Expression): Slot {
  return {
    opener: operator.charCodeAt(0),
    allowed: allBut(operator === '#' ? '' : operator === ';' ? '/?#' : '#'),
    after: '',
    take:
      operator === '#'
        ? (text, findings) => takeFragment(variables, text, findings)
        : (text, findings) => takeNamed(variables, operator, text, findings),
  }
}

function takeNamed(
  variables: readonly Variable[],
  operator: Operator,
  text: string,
  findings: Findings,
): boolean {
  const lists = new Map<string, string[]>()
  for (const { name } of variables) lists.set(normalized(name) ?? name, [])
  for (const pair of text.split(operator === ';' ? ';' : '&')) {
    const equals = pair.indexOf('=')
    const list = lists.get(equals === -1 ? pair : pair.slice(0, equals))
    if (list === undefined) return false
    const raw = equals === -1 ? '' : pair.slice(equals + 1)
    const value = operator === ';' ? decodedInPath(raw) : decoded(raw)
    if (value === undefined) return false
    list.push(value)
  }
  return variables.every(variable => {
    const list = lists.get(normalized(variable.name) ?? variable.name) ?? []
    return list.length === 0 || put(findings, variable, list)
  })
}

function takeFragment(variables: readonly Variable[], text: string, findings: Findings): boolean {
  let rest: string | undefined = text
  for (const [i, variable] of variables.entries()) {
    if (rest === undefined) break
    const comma: number = i === variables.length - 1 ? -1 : rest.indexOf(',')
    const raw: string = comma === -1 ? rest : rest.slice(0, comma)
    rest = comma === -1 ? undefined : rest.slice(comma + 1)
    const values = (variable.explode ? raw.split(',') : [raw]).map(decoded)
    if (!isComplete(values) || !put(findings, variable, values)) return false
  }
  return true
}

/** Stores the values of a variable; returns false if they do not fit its modifiers or earlier values. */
function put(findings: Findings, variable: Variable, values: readonly string[]): boolean {
  const [value = ''] = values
  if (!variable.explode && (values.length > 1 || cut(value, variable.prefix) !== value))
    return false
  const before = findings.get(variable.name)
  if (before === undefined) {
    findings.set(variable.name, { variable, values })
    return true
  }
  const [short, long] =
    (before.variable.prefix ?? Number.POSITIVE_INFINITY) <=
    (variable.prefix ?? Number.POSITIVE_INFINITY)
      ? [before, { variable, values }]
      : [{ variable, values }, before]
  findings.set(variable.name, long)
  return (
    short.values.length === long.values.length &&
    long.values.every((text, i) => cut(text, short.variable.prefix) === short.values[i])
  )
}

function decoded(raw: string): string | undefined {
  try {
    const value = decodeURIComponent(raw)
    return value.includes('\0') ? undefined : value
  } catch {
    return undefined
  }
}

function decodedInPath(raw: string): string | undefined {
  const value = decoded(raw)
  return value === undefined || /(?:^|[/\\])\.{1,2}(?:[/\\?#]|$)/.test(value) ? undefined : value
}

function isComplete(values: readonly (string | undefined)[]): values is readonly string[] {
  return !values.includes(undefined)
}

function allBut(characters: string): Uint8Array {
  const table = new Uint8Array(128)
  for (let code = 0x21; code < 0x7f; code++) {
    if (!characters.includes(String.fromCharCode(code))) table[code] = 1
  }
  return table
}
