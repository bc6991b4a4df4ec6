import { RpcError } from '../../jsonrpc/error.ts'
import {
  categories,
  type DataKey,
  type ErrorCategory,
  type ErrorEntry,
  type ErrorKind,
  type ErrorSeverity,
  errorEntryOf,
  errorTable,
} from './table.ts'

/** Options of an error constructor. */
export interface ErrorMakerOptions {
  /** Replaces the message of the error table. It is sent to the peer. */
  readonly message?: string
  /** The cause of the error. It is not sent to the peer. */
  readonly cause?: unknown
}

/**
 * One constructor per kind of the error table, in camel case: `errors.toolNotFound({ tool: 'x' })`.
 *
 * Each returns an RpcError with the kind, category, severity and code of the table, and the given
 * members as `data`. The members that belong to the kind are required, others are optional. `toWire`
 * chooses the code on the wire when the error is sent.
 */
// The check: both sides have the `rows` of the error table as keys, and camelCase matches CamelCase.
export const errors = Object.fromEntries(
  Array.from(errorTable.values(), entry => [camelCase(entry.kind), make(entry)]),
) as Errors

/** The type of {@link errors}: one constructor per kind. */
export type Errors = { readonly [K in ErrorKind as CamelCase<K>]: ErrorMaker<K> }

/** The members of `data` that a kind requires, with their types, and any others. */
export type ErrorData<K extends ErrorKind> = {
  readonly [Key in DataKey<K>]: Key extends keyof ErrorDataTypes ? ErrorDataTypes[Key] : string
} & Readonly<Record<string, unknown>>

/** Makes an error of one kind. The members of `data` that belong to the kind are required. */
export type ErrorMaker<K extends ErrorKind> = [DataKey<K>] extends [never]
  ? (data?: ErrorData<K>, options?: ErrorMakerOptions) => RpcError
  : (data: ErrorData<K>, options?: ErrorMakerOptions) => RpcError

/** The members of `data` that are not strings. */
export interface ErrorDataTypes {
  /** The size that was received, in bytes. */
  readonly actualSize: number
  /** The largest size that is accepted, in bytes. */
  readonly maxSize: number
  /** How many requests wait. */
  readonly queueSize: number
  /** The timeout, in milliseconds. */
  readonly timeoutMs: number
  /** What exactly is wrong. */
  readonly details: unknown
}

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name

/** `data: never`, because the type of the data is known only under the name in `errors`. */
function make(entry: ErrorEntry): (data: never, options?: ErrorMakerOptions) => RpcError {
  const { kind, code, category, severity } = entry
  return (data?: Readonly<Record<string, unknown>>, options: ErrorMakerOptions = {}) =>
    new RpcError(code, options.message ?? messageWith(entry, data), {
      kind,
      category,
      severity,
      data,
      cause: options.cause,
    })
}

/** The kinds whose message says nothing without the data: what was not found, or is missing or invalid. */
const namingKinds: ReadonlySet<ErrorKind> = new Set([
  'invalid_params',
  'tool_not_found',
  'prompt_not_found',
  'prompt_argument_missing',
  'resource_not_found',
])

/** Returns the message of the table, for some kinds followed by their data: texts as they are, the rest as JSON. */
function messageWith(
  { kind, message, data: keys }: ErrorEntry,
  data: Readonly<Record<string, unknown>> | undefined,
): string {
  if (data === undefined || !namingKinds.has(kind)) return message
  const texts = keys.flatMap(key => textOf(data[key]) ?? [])
  return [message, ...texts.map(text => text.slice(0, maxTextCharacters))].join(': ')
}

/** Returns a value as a text; undefined if it has no JSON, which sending it reports. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** The number of characters of each text in a message. */
const maxTextCharacters = 200

function camelCase(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** Whether a code belongs to a kind of the error table. */
export function isKnownCode(code: number): boolean {
  return errorEntryOf(code) !== undefined
}

/**
 * Returns the category of the error with this code: -32001 is `'resource'`. `'unknown'` for a code that
 * is not in the error table.
 *
 * The `category` of an error that arrived is more exact, because it also considers the data of the
 * error.
 */
export function errorCategory(code: number): ErrorCategory | 'unknown' {
  return errorEntryOf(code)?.category ?? 'unknown'
}

/**
 * Returns the severity of the error with this code; `'info'` for a code that is not in the error table.
 */
export function errorSeverity(code: number): ErrorSeverity | 'info' {
  return errorEntryOf(code)?.severity ?? 'info'
}

/** One predicate per category: `errorIs.resource(-32001)` is true. */
// The check: the keys are `categories`.
export const errorIs = Object.fromEntries(
  categories.map(category => [category, (code: number) => errorCategory(code) === category]),
) as { readonly [C in ErrorCategory]: (code: number) => boolean }

/** The name of a range of codes: a category, or `'experimental'` for the positive ones. */
export type ErrorRange = ErrorCategory | 'experimental' | 'unknown'

const ranges: readonly (readonly [from: number, to: number, range: ErrorRange])[] = [
  [-32700, -32600, 'jsonrpc'],
  [-32010, -32000, 'core'],
  [-32020, -32011, 'content'],
  [-32030, -32021, 'resource'],
  [-32040, -32031, 'tool'],
  [-32050, -32041, 'prompt'],
  [-32060, -32051, 'auth'],
  [-32070, -32061, 'protocol'],
  [-32080, -32071, 'pagination'],
  [-32090, -32081, 'task'],
  [-32100, -32091, 'progress'],
  [-32113, -32110, 'completion'],
  [1090, 1099, 'experimental'],
]

/**
 * Returns the range that a code lies in, whether or not an error has that code: -32001 lies in
 * `'core'`, although its category is `'resource'`.
 */
export function errorRange(code: number): ErrorRange {
  return ranges.find(([from, to]) => code >= from && code <= to)?.[2] ?? 'unknown'
}
