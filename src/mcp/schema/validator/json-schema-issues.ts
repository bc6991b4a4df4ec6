import { isRecord } from '../../../util/objects.ts'
import { type Issue, truncate } from '../issues.ts'

/** An error of the validator: one keyword that a value violates. */
export interface Breach {
  readonly keyword: string
  /** A JSON pointer into the value. */
  readonly instancePath: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
  /** The schema that contains the keyword. */
  readonly parentSchema?: unknown
  /** The part of the value that violates it. */
  readonly data?: unknown
}

/** Converts validator errors into issues. Never returns an empty list. */
export function issuesOf(breaches: readonly Breach[], value: unknown): readonly Issue[] {
  // The error of a failed choice adds nothing to the errors of its branches.
  const telling = breaches.filter(breach => !isSummary(breach))
  const paths = new Map<string, Issue['path']>()
  const issues = (telling.length === 0 ? breaches : telling)
    .slice(0, shownBreaches)
    .flatMap(breach => {
      const { instancePath } = breach
      const path = paths.get(instancePath) ?? pathOf(instancePath, value)
      paths.set(instancePath, path)
      return issuesOfOne(breach, path)
    })
  const merged = mergeTypes(issues)
  return merged.length === 0 ? [{ path: [], message: 'not valid' }] : merged
}

/** More than a message shows. */
const shownBreaches = 32

function isSummary({ keyword, params }: Breach): boolean {
  if (keyword === 'oneOf') return params.passingSchemas === null
  return keyword === 'anyOf' || keyword === 'if'
}

const expected = 'expected '

function issuesOfOne(breach: Breach, path: Issue['path']): readonly Issue[] {
  const { keyword, params, message = 'not valid' } = breach
  switch (keyword) {
    case 'type':
      return [{ path, message: expected + [params.type].flat().join(' or ') }]
    case 'required':
      return missing(breach).map(name => ({ path: [...path, name], message: 'is required' }))
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = params.additionalProperty ?? params.unevaluatedProperty
      return [{ path: [...path, String(name)], message: 'is not a known property' }]
    }
    case 'enum':
      return [{ path, message: `expected one of ${listed(params.allowedValues)}` }]
    case 'const':
      return [{ path, message: expected + truncate(JSON.stringify(params.allowedValue)) }]
    case 'format':
      return [{ path, message: `expected ${articled(String(params.format))}` }]
    case 'uniqueItems':
      return [{ path, message: 'has duplicate items' }]
    case 'oneOf':
      return [{ path, message: 'matches more than one of the allowed schemas' }]
    case 'not':
    case 'false schema':
      return [{ path, message: 'is not allowed' }]
    default:
      return [{ path, message }]
  }
}

/** Returns all missing required names; the validator stops at the first. */
function missing({ params, parentSchema, data }: Breach): string[] {
  const names = isRecord(parentSchema) ? parentSchema.required : undefined
  const all = Array.isArray(names) && isRecord(data) ? names.filter(isString) : []
  const absent = all.filter(name => isRecord(data) && !Object.hasOwn(data, name))
  return absent.length === 0 ? [String(params.missingProperty)] : absent
}

function listed(values: unknown): string {
  const all = Array.isArray(values) ? values : []
  const shown = all.slice(0, 10).map(value => truncate(JSON.stringify(value)))
  return shown.join(', ') + (all.length > shown.length ? ', …' : '')
}

function articled(format: string): string {
  return `${/^[aeiou](?!ri$)/.test(format) ? 'an' : 'a'} ${format}`
}

/** Merges issues of alternatives that differ only in type: "expected string or number". */
function mergeTypes(issues: readonly Issue[]): Issue[] {
  const merged: Issue[] = []
  const types = new Map<string, { readonly index: number; readonly names: Set<string> }>()
  for (const issue of issues) {
    const isType = /^expected [a-z]+(?: or [a-z]+)*$/.test(issue.message)
    const place = JSON.stringify(issue.path)
    const known = isType ? types.get(place) : undefined
    if (!isType) merged.push(issue)
    else if (known === undefined) {
      const names = new Set([issue.message.slice(expected.length)])
      types.set(place, { index: merged.push(issue) - 1, names })
    } else {
      known.names.add(issue.message.slice(expected.length))
      merged[known.index] = { path: issue.path, message: expected + [...known.names].join(' or ') }
    }
  }
  return merged
}

/** Returns the keys of a JSON pointer; array indexes as numbers. */
function pathOf(pointer: string, value: unknown): Issue['path'] {
  let at = value
  return pointer
    .split('/')
    .slice(1)
    .map(token => {
      const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
      const isIndex = Array.isArray(at)
      at = typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined
      return isIndex ? Number(key) : key
    })
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}
