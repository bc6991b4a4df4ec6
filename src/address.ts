import { type Address, transportForScheme, transports } from './transports.ts'
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
  const colon = text.indexOf(':')
  const scheme = text.slice(0, Math.max(colon, 0)).toLowerCase()
  const transport = transportForScheme(scheme)
  if (transport === undefined) throw unreadable(text)
  let address: Address
  try {
    address = transport.parse(text.slice(colon + 1), scheme)
  } catch (error) {
    throw unreadable(text, ` (${errorMessage(error)})`)
  }
  const why = transport.unavailable?.(platform)
  if (why !== undefined) throw new TypeError(`"${text}" ${why}`)
  return address
}

const forms = transports.map(({ form }) => form).join(', ')

function unreadable(text: string, reason = ''): TypeError {
  return new TypeError(`cannot read the address "${text}"${reason}; the forms are ${forms}`)
}
