import { isLoopback } from '../../util/origin.ts'

/** What an address is written for: to serve there, or to connect to. */
export type AddressUse = 'listen' | 'connect' | 'metrics'

/** The schemes of addresses, for each use. */
export const addressSchemes: Readonly<Record<AddressUse, readonly string[]>> = {
  listen: ['http', 'ws', 'tcp', 'unix', 'pipe', 'stdio'],
  connect: ['http', 'https', 'ws', 'wss', 'tcp', 'unix', 'pipe'],
  metrics: ['http'],
}

/**
 * Why a text is no address for a use, as the rest of a sentence; undefined for one that is. The text
 * itself is never repeated: a password may be part of it.
 */
export function addressProblem(text: string, use: AddressUse): string | undefined {
  const schemes = addressSchemes[use]
  const scheme = schemeOf(text)
  if (scheme === undefined || !schemes.includes(scheme)) {
    return `is no address to ${verbs[use]}; an address begins with ${schemes.map(beginning).join(', ')}`
  }
  const rest = text.slice(scheme.length + 1)
  switch (scheme) {
    case 'stdio':
      return rest === '' ? undefined : 'has something after "stdio:"'
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

/** Whether only programs of this machine can come in at an address that {@link addressProblem} accepts. */
export function isLocalAddress(text: string): boolean {
  const scheme = schemeOf(text)
  if (scheme === 'stdio' || scheme === 'unix' || scheme === 'pipe') return true
  const host = parsed(text.slice((scheme ?? '').length + 1))?.hostname ?? ''
  return isLoopback(host.replace(/^\[|\]$/g, ''))
}

/** The scheme of an address in lower case; undefined for a text that has none. */
export function schemeOf(text: string): string | undefined {
  return /^([a-z][a-z+.-]*):/i.exec(text)?.[1]?.toLowerCase()
}

const verbs = { listen: 'listen at', connect: 'connect to', metrics: 'serve metrics at' }

function beginning(scheme: string): string {
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

/** As HTTP: the URL class has no idea of hosts in schemes that it does not know. */
function parsed(rest: string): URL | undefined {
  // A host that is left out is this machine.
  const withHost = rest.startsWith('//:') ? `//localhost${rest.slice(2)}` : rest
  // Without a look of our own, any number of slashes would do.
  if (!/^\/\/[^/?#\\]/.test(withHost)) return undefined
  try {
    return new URL(`http:${withHost}`)
  } catch {
    return undefined
  }
}
