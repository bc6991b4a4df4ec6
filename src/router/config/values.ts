import { checkName } from '../../mcp/names.ts'
import { isLoopback } from '../../util/origin.ts'
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
  listen: ['http', 'https', 'ws', 'wss', 'tcp', 'unix', 'pipe', 'stdio'],
  connect: ['http', 'https', 'ws', 'wss', 'tcp', 'unix', 'pipe'],
  metrics: ['http'],
}

/**
 * Returns why a string is not a valid address for a use, as the rest of a sentence; undefined for a valid
 * one. The string itself is never repeated, because it may contain a password.
 */
export function addressProblem(text: string, use: AddressUse): string | undefined {
  const schemes = addressSchemes[use]
  const scheme = schemeOf(text)
  if (scheme === undefined || !schemes.includes(scheme)) {
    return `is not an address to ${verbs[use]}; an address starts with ${schemes.map(schemePrefix).join(', ')}`
  }
  const rest = text.slice(scheme.length + 1)
  switch (scheme) {
    case 'stdio':
      return rest === '' ? undefined : 'must not continue after "stdio:"'
    case 'unix':
      return /^(?:\/{3})?[^/\0][^\0]*$|^\/[^/\0][^\0]*$/.test(rest)
        ? undefined
        : 'needs the path of a socket file after "unix:"'
    case 'pipe':
      return /^[^\\/\0]+$/.test(rest) ? undefined : 'needs a name without slashes after "pipe:"'
    default:
      return urlProblem(scheme, rest)
  }
}

/** Whether an address that {@link addressProblem} accepts can be reached only from this machine. */
export function isLocalAddress(text: string): boolean {
  const scheme = schemeOf(text)
  if (scheme === 'stdio' || scheme === 'unix' || scheme === 'pipe') return true
  const host = parsed(text.slice((scheme ?? '').length + 1))?.hostname ?? ''
  return isLoopback(host.replace(/^\[|\]$/g, ''))
}

/** Returns the scheme of an address in lower case; undefined if there is none. */
export function schemeOf(text: string): string | undefined {
  return /^([a-z][a-z+.-]*):/i.exec(text)?.[1]?.toLowerCase()
}

const verbs = { listen: 'listen at', connect: 'connect to', metrics: 'serve metrics at' }

function schemePrefix(scheme: string): string {
  return ['stdio', 'unix', 'pipe'].includes(scheme) ? `${scheme}:` : `${scheme}://`
}

function urlProblem(scheme: string, rest: string): string | undefined {
  if (scheme === 'tcp') {
    const port = /^\/\/(?:\[[^\]]+\]|[^:/?#@[\]\s]*):(\d{1,5})\/?$/.exec(rest)?.[1]
    return Number(port ?? Number.NaN) <= 65_535
      ? undefined
      : 'needs a host and a port: tcp://host:port'
  }
  const url = parsed(rest)
  if (url === undefined) return `needs a host after "${scheme}://"`
  return url.hash === '' ? undefined : 'has a fragment ("#…"), which is never sent'
}

/** Parses the address as an HTTP URL, because the URL class does not parse hosts of unknown schemes. */
function parsed(rest: string): URL | undefined {
  // A missing host means this machine.
  const withHost = rest.startsWith('//:') ? `//localhost${rest.slice(2)}` : rest
  // Checked here because the URL class accepts any number of slashes.
  if (!/^\/\/[^/?#\\]/.test(withHost)) return undefined
  try {
    return new URL(`http:${withHost}`)
  } catch {
    return undefined
  }
}
