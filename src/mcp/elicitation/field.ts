import { truncate } from '../schema/issues.ts'
import { hasAtLeast, hasAtMost } from '../schema/validator/characters.ts'
import { type Format, formats } from '../schema/validator/formats.ts'
import type { FormValue } from '../types/elicitation.ts'

/** One field of a form: one property of the flat object that an elicitation requests. */
export type FormField = FormFieldShape & {
  readonly title?: string
  readonly description?: string
  readonly default?: FormValue
}

/** The type of a field and its constraints. */
export type FormFieldShape = TextShape | NumberShape | { readonly kind: 'boolean' } | ChoiceShape

interface TextShape {
  readonly kind: 'text'
  readonly minLength?: number
  readonly maxLength?: number
  readonly format?: Format
}

interface NumberShape {
  readonly kind: 'number'
  readonly isInteger: boolean
  readonly minimum?: number
  readonly maximum?: number
  /** Exclusive bounds. A form cannot show them, but responses are checked against them. */
  readonly above?: number
  readonly below?: number
}

/** A choice of one or several strings. */
interface ChoiceShape extends Options {
  readonly kind: 'one' | 'many'
  readonly minItems?: number
  readonly maxItems?: number
}

/** The options of a choice, and which keywords list them: `enum`, `enum` with `enumNames`, or `oneOf`. */
export interface Options {
  readonly options: readonly Option[]
  readonly spelling: 'plain' | 'named' | 'titled'
}

/** One option of a choice: its value and its label. */
export interface Option {
  readonly value: string
  readonly title?: string
}

/**
 * Returns what is wrong with a value for a field, as the rest of a sentence; undefined for a valid
 * value.
 */
export function faultOf(field: FormFieldShape, value: unknown): string | undefined {
  switch (field.kind) {
    case 'text':
      return faultOfText(field, value)
    case 'number':
      return faultOfNumber(field, value)
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'expected boolean'
    case 'one':
      return faultOfChoice(field, value)
    case 'many': {
      if (!Array.isArray(value)) return 'expected array'
      const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = field
      if (value.length < minItems) return `must have ${minItems} items or more`
      if (value.length > maxItems) return `must have ${maxItems} items or fewer`
      const allowed = new Set<unknown>(field.options.map(option => option.value))
      const wrong = value.findIndex(one => !allowed.has(one))
      return wrong === -1 ? undefined : faultOfChoice(field, value[wrong])
    }
  }
}

function faultOfText(field: TextShape, value: unknown): string | undefined {
  if (typeof value !== 'string') return 'expected string'
  const { format, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = field
  if (!hasAtLeast(value, minLength)) return `must have ${minLength} characters or more`
  if (!hasAtMost(value, maxLength)) return `must have ${maxLength} characters or fewer`
  return format && !formats.get(format)?.(value) ? `expected the format ${format}` : undefined
}

function faultOfNumber(field: NumberShape, value: unknown): string | undefined {
  const { isInteger, minimum, maximum, above, below } = field
  const isNumber = typeof value === 'number' && Number.isFinite(value)
  if (!isNumber || (isInteger && !Number.isInteger(value))) {
    return `expected ${isInteger ? 'integer' : 'number'}`
  }
  if (above !== undefined && value <= above) return `must be > ${above}`
  if (below !== undefined && value >= below) return `must be < ${below}`
  if (minimum !== undefined && value < minimum) return `must be >= ${minimum}`
  return maximum !== undefined && value > maximum ? `must be <= ${maximum}` : undefined
}

function faultOfChoice({ options }: Options, value: unknown): string | undefined {
  if (options.some(option => option.value === value)) return undefined
  const shown = options.slice(0, 10).map(option => truncate(JSON.stringify(option.value)))
  return `expected one of ${shown.join(', ')}${options.length > shown.length ? ', …' : ''}`
}
