import { type Address, transportForScheme, transportOf, transports } from './transports.ts'
import { errorMessage } from './util/text/error-message.ts'

export type { Address }

/**
 * Parses an address. A missing host (`tcp://:4000`) means `localhost`; a relative path stays relative.
 * Throws a TypeError that names the address, the reason and the supported forms.
 */
export function parseAddress(text: string, platform: string = process.platform): Address {
  // Untyped callers pass anything.
  if (typeof text !== 'string')
    throw new TypeError(`an address must be a string; the forms are ${forms}`)
  let address: Address | undefined
  try {
    address = readAddress(text)
  } catch (error) {
    throw unreadable(text, ` (${errorMessage(error)})`)
  }
  if (address === undefined) throw unreadable(text)
  const why = transportOf(address).unavailable?.(platform)
  if (why !== undefined) throw new TypeError(`"${text}" ${why}`)
  return address
}

/**
 * Parses an address that may be meant for another platform. Returns undefined if no transport has its
 * scheme. Throws an Error with the reason, which never repeats the address, if it is malformed.
 */
export function readAddress(text: string): Address | undefined {
  const scheme = schemeOf(text)
  return transportForScheme(scheme)?.parse(text.slice(scheme.length + 1), scheme)
}

/** Returns the scheme of an address in lower case; an empty string if there is none. */
export function schemeOf(text: string): string {
  return text.slice(0, Math.max(text.indexOf(':'), 0)).toLowerCase()
}

const forms = transports.map(({ form }) => form).join(', ')

function unreadable(text: string, reason = ''): TypeError {
  return new TypeError(`cannot read the address "${text}"${reason}; the forms are ${forms}`)
}
