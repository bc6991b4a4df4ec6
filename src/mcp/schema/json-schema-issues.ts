import { isRecord } from '../../util/record.ts'
import { type Issue, shortened } from './issues.ts'

/** What a validator of JSON Schema says about one keyword that a value breaks. */
export interface Breach {
  readonly keyword: string
  /** A JSON pointer into the value. */
  readonly instancePath: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
  /** The schema that the keyword stands in. */
  readonly parentSchema?: unknown
  /** The part of the value. */
  readonly data?: unknown
}

/** Says in words what is wrong with a value. Never gives an empty list. */
export function issuesOf(breaches: readonly Breach[], value: unknown): readonly Issue[] {
  // A choice that fails says nothing that its branches do not say better.
  const telling = breaches.filter(breach => !isSummary(breach))
  const issues = (telling.length === 0 ? breaches : telling).flatMap(breach =>
    issuesOfOne(breach, pathOf(breach.instancePath, value)),
  )
  const merged = mergeTypes(issues)
  return merged.length === 0 ? [{ path: [], message: 'not valid' }] : merged
}

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
      return [{ path, message: expected + shortened(JSON.stringify(params.allowedValue)) }]
    case 'format':
      return [{ path, message: `expected ${articled(String(params.format))}` }]
    case 'uniqueItems':
      return [{ path, message: 'has the same item twice' }]
    case 'oneOf':
      return [{ path, message: 'fits more than one of the allowed forms' }]
    case 'not':
    case 'false schema':
      return [{ path, message: 'is not allowed' }]
    default:
      return [{ path, message }]
  }
}

/** All required names that are missing; the validator stops at the first. */
function missing({ params, parentSchema, data }: Breach): string[] {
  const names = isRecord(parentSchema) ? parentSchema.required : undefined
  const all = Array.isArray(names) && isRecord(data) ? names.filter(isString) : []
  const absent = all.filter(name => isRecord(data) && !Object.hasOwn(data, name))
  return absent.length === 0 ? [String(params.missingProperty)] : absent
}

function listed(values: unknown): string {
  const all = Array.isArray(values) ? values : []
  const shown = all.slice(0, 10).map(value => shortened(JSON.stringify(value)))
  return shown.join(', ') + (all.length > shown.length ? ', …' : '')
}

function articled(format: string): string {
  return `${/^[aeiou](?!ri$)/.test(format) ? 'an' : 'a'} ${format}`
}

/** Alternatives that differ in type are one issue: "expected string or number". */
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

/** The keys of a JSON pointer; those of arrays as numbers. */
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
