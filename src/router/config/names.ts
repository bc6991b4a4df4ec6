import { checkName } from '../../mcp/names.ts'
import { checkPrefix, checkServerName } from '../catalog/names.ts'
import type { KeyKind, TextRule } from './field.ts'

/** Why a name in a map cannot be used, as a sentence; undefined for one that can. */
export function keyProblem(key: string, kind: KeyKind, all: Iterable<string>): string | undefined {
  switch (kind) {
    case 'server':
      return checkServerName(key)
    case 'variable':
      return variable.test(key)
        ? undefined
        : `${JSON.stringify(key)} cannot be the name of an environment variable`
    case 'header':
      if (!token.test(key)) return `${JSON.stringify(key)} cannot be the name of a header`
      return twin(key, all)
    case 'tool':
      return checkName(key, 'tool')
  }
}

/** Why a text cannot be used, as the rest of a sentence without the text; undefined for one that can. */
export function textProblem(text: string, rule: TextRule | undefined): string | undefined {
  if (text.includes('\0')) return 'holds the character NUL'
  switch (rule) {
    case undefined:
      return undefined
    case 'not-empty':
      return text.trim() === '' ? 'is empty' : undefined
    case 'line':
      if (/[\r\n]/.test(text)) return 'holds a line break'
      return /[^\t\x20-\x7e\x80-\xff]/.test(text)
        ? 'holds a character that a header cannot carry'
        : undefined
    case 'variable':
      return variable.test(text) ? undefined : 'is not the name of an environment variable'
    case 'header':
      return token.test(text) ? undefined : 'is not the name of a header'
    case 'prefix':
      // Not its own words, which repeat the text.
      return checkPrefix(text) === undefined
        ? undefined
        : 'may have up to 32 letters, digits and "_", "-", "."; write false for none'
  }
}

/** No patterns: a name stands for one variable. */
const variable = /^[^=\s\0*?$]+$/

const token = /^[\w!#$%&'*+.^`|~-]+$/

/** Headers that differ in their case alone are one, and it could not be said which value is sent. */
function twin(key: string, all: Iterable<string>): string | undefined {
  const lower = key.toLowerCase()
  for (const other of all) {
    if (other === key) return undefined
    if (other.toLowerCase() === lower) return `the header "${key}" is given as "${other}" already`
  }
  return undefined
}
