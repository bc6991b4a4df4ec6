import { RpcError } from '../../jsonrpc/error.ts'
import {
  type Category,
  catalogue,
  categories,
  type DataKey,
  type Entry,
  entryOf,
  type Kind,
  type Severity,
} from './table.ts'

/** What may be said beside the data of an error. */
export interface ErrorMakerOptions {
  /** Instead of the catalogue's words. Crosses the wire. */
  readonly message?: string
  /** What brought it about; stays here. */
  readonly cause?: unknown
}

/**
 * One constructor per kind of the catalogue, in camel case: `errors.toolNotFound({ tool: 'x' })`.
 *
 * Gives an RpcError with the kind, category and severity of the catalogue, the kind's own number,
 * and the given members as `data`. The members that belong to the kind are required, others may
 * follow. Which number goes on the wire is decided by `toWire`, when it is sent.
 */
// The check: `rows` of the catalogue are the keys of both sides, and camelCase is CamelCase.
export const errors = Object.fromEntries(
  Array.from(catalogue.values(), entry => [camelCase(entry.kind), make(entry)]),
) as Errors

export type Errors = { readonly [K in Kind as CamelCase<K>]: ErrorMaker<K> }

/** The members of `data` that a kind has, with their types, and any others. */
export type ErrorData<K extends Kind> = {
  readonly [Key in DataKey<K>]: Key extends keyof DataTypes ? DataTypes[Key] : string
} & Readonly<Record<string, unknown>>

export type ErrorMaker<K extends Kind> = [DataKey<K>] extends [never]
  ? (data?: ErrorData<K>, options?: ErrorMakerOptions) => RpcError
  : (data: ErrorData<K>, options?: ErrorMakerOptions) => RpcError

/** Members of `data` that are no strings. */
interface DataTypes {
  readonly actualSize: number
  readonly maxSize: number
  readonly queueSize: number
  readonly timeoutMs: number
  readonly details: unknown
}

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name

/** `data: never`, because which data it takes is known only under its name in `errors`. */
function make(entry: Entry): (data: never, options?: ErrorMakerOptions) => RpcError {
  const { kind, code, message, category, severity } = entry
  return (data?: Readonly<Record<string, unknown>>, options: ErrorMakerOptions = {}) =>
    new RpcError(code, options.message ?? message, {
      kind,
      category,
      severity,
      data,
      cause: options.cause,
    })
}

function camelCase(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** Whether a number belongs to a kind of the catalogue. */
export function isKnownCode(code: number): boolean {
  return entryOf(code) !== undefined
}

/**
 * What the error with this number is about, by subject: -32001 is a resource's. `'unknown'` for a
 * number outside of the catalogue.
 *
 * A number alone says less than an error that arrived: its `category` also counts what its data say.
 */
export function errorCategory(code: number): Category | 'unknown' {
  return entryOf(code)?.category ?? 'unknown'
}

/** How bad the error with this number is. `'info'` for a number outside of the catalogue. */
export function errorSeverity(code: number): Severity | 'info' {
  return entryOf(code)?.severity ?? 'info'
}

/** One question per category: `errorIs.resource(-32001)` is true. */
// The check: the keys are `categories`.
export const errorIs = Object.fromEntries(
  categories.map(category => [category, (code: number) => errorCategory(code) === category]),
) as { readonly [C in Category]: (code: number) => boolean }

/** The families of numbers: a category, or the positive ones for experiments. */
export type ErrorRange = Category | 'experimental' | 'unknown'

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
 * The family a number lies in, whether or not an error has that number: -32001 lies in `'core'`,
 * although it is about a resource.
 */
export function errorRange(code: number): ErrorRange {
  return ranges.find(([from, to]) => code >= from && code <= to)?.[2] ?? 'unknown'
}
