import { type Address, schemeOf } from '../../address.ts'
import { checkName } from '../../mcp/names.ts'
import { placeOf, type Transport, transportForScheme, transports } from '../../transports.ts'
import { isLoopback } from '../../util/origin.ts'
import { errorMessage } from '../../util/text/error-message.ts'
import { checkPrefix, checkServerName } from '../catalog/names.ts'
import type { AddressUse, KeyKind, StringRule } from './field.ts'

/** Returns why a key of a map is invalid, as a sentence; undefined for a valid key. `all` are all keys of the map. */
export function keyProblem(key: string, kind: KeyKind, all: Iterable<string>): string | undefined {
  switch (kind) {
    case 'server':
      return checkServerName(key)
    case 'view':
      return checkServerName(key, 'view')
    case 'variable':
      return variable.test(key)
        ? undefined
        : `${JSON.stringify(key)} is not a valid name of an environment variable`
    case 'header':
      if (!token.test(key)) return `${JSON.stringify(key)} is not a valid header name`
      return duplicateHeader(key, all)
    case 'tool':
      return checkName(key, 'tool')
    case 'claim':
      return key.trim() === '' ? 'the name of a claim is empty' : undefined
  }
}

/** Returns why a string is invalid, as the rest of a sentence without the string itself; undefined for a valid one. */
export function stringProblem(text: string, rule: StringRule | undefined): string | undefined {
  if (text.includes('\0')) return 'contains a NUL character'
  switch (rule) {
    case undefined:
      return undefined
    case 'not-empty':
      return text.trim() === '' ? 'is empty' : undefined
    case 'web':
      return isWebUrl(text)
        ? undefined
        : 'must be an https: URL without credentials and fragment; http: is for this machine only'
    case 'line':
      if (/[\r\n]/.test(text)) return 'contains a line break'
      return /[^\t\x20-\x7e\x80-\xff]/.test(text)
        ? 'contains a character that is not allowed in a header'
        : undefined
    case 'variable':
      return variable.test(text) ? undefined : 'is not a valid name of an environment variable'
    case 'header':
      return token.test(text) ? undefined : 'is not a valid header name'
    case 'prefix':
      // Not the message of checkPrefix, which repeats the string.
      return checkPrefix(text) === undefined
        ? undefined
        : 'must have at most 32 characters of letters, digits, "_", "-" and "."; use false for no prefix'
  }
}

function isWebUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.username !== '' || text.includes('#')) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))
}

/** Wildcards are excluded: a name denotes one variable. */
const variable = /^[^=\s\0*?$]+$/

const token = /^[\w!#$%&'*+.^`|~-]+$/

/** Rejects header names that differ only in case: they are the same header, and its value would be ambiguous. */
function duplicateHeader(key: string, all: Iterable<string>): string | undefined {
  const lower = key.toLowerCase()
  for (const other of all) {
    if (other === key) return undefined
    if (other.toLowerCase() === lower) return `header "${key}" duplicates "${other}"`
  }
  return undefined
}

/** The allowed address schemes for each use. */
export const addressSchemes: Readonly<Record<AddressUse, readonly string[]>> = {
  listen: schemesOf(transports),
  connect: schemesOf(transports.filter(({ locator }) => locator !== 'none')),
  metrics: ['http'],
}

/**
 * Returns why a string is not a valid address for a use, as the rest of a sentence; undefined for a valid
 * one. The string itself is never repeated, because it may contain a password.
 */
export function addressProblem(text: string, use: AddressUse): string | undefined {
  const schemes = addressSchemes[use]
  const scheme = schemeOf(text)
  const transport = transportForScheme(scheme)
  if (transport === undefined || !schemes.includes(scheme)) {
    return `is not an address to ${verbs[use]}; an address starts with ${schemes.map(schemePrefix).join(', ')}`
  }
  try {
    transport.parse(text.slice(scheme.length + 1), scheme)
    return undefined
  } catch (error) {
    return `is malformed (${errorMessage(error)}); the form is ${transport.form}`
  }
}

/** Whether an address can be reached only from this machine. */
export function isLocalAddress(address: Address): boolean {
  const place = placeOf(address)
  return place?.type !== 'network' || isLoopback(place.host)
}

const verbs = { listen: 'listen at', connect: 'connect to', metrics: 'serve metrics at' }

function schemesOf(rows: readonly Transport[]): readonly string[] {
  return rows.flatMap(({ scheme, secureScheme }) =>
    secureScheme === undefined ? [scheme] : [scheme, secureScheme],
  )
}

function schemePrefix(scheme: string): string {
  const locator = transportForScheme(scheme)?.locator
  return locator === 'port' || locator === 'url' ? `${scheme}://` : `${scheme}:`
}
