/** Which addresses count as one client, and which are not limited. */
export interface AddressPolicy {
  /** Whether an address is that of a proxy, whose connections belong to many clients. */
  readonly isProxy?: (address: string) => boolean
  /** Whether addresses of this machine and of private networks are limited, too. */
  readonly includesLocal?: boolean
}

/**
 * Returns the name under which what an address holds is counted; undefined if it is not limited.
 *
 * One client can use all addresses of an IPv6 network, so those of one /64 have one name. Unless the
 * policy includes them, addresses of this machine and of private networks are not limited, because a
 * proxy that many clients share has one of them.
 */
export function countedAddress(
  address: string | undefined,
  policy: AddressPolicy,
): string | undefined {
  if (address === undefined) return undefined
  const plain = plainAddress(address)
  if (policy.isProxy?.(plain) === true) return undefined
  if (policy.includesLocal !== true && isLocal(plain)) return undefined
  return plain.includes(':') ? network(plain) : plain
}

/** Returns an IPv4 address in its usual form if it is written as an IPv6 address, without the zone. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
}

/** Whether only this machine or a private network uses the address. */
function isLocal(address: string): boolean {
  return /^(?:127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|::1$|f[cd]|fe[89ab])/i.test(
    address,
  )
}

/** Returns the first 64 bits of an IPv6 address. */
function network(address: string): string {
  const [head = '', tail] = address.toLowerCase().split('::')
  const first = head === '' ? [] : head.split(':')
  const missing = tail === undefined ? 0 : 8 - first.length - tail.split(':').filter(Boolean).length
  const groups = [...first, ...Array.from({ length: Math.max(0, missing) }, () => '0')]
  if (tail !== undefined) groups.push(...tail.split(':').filter(Boolean))
  return `${groups.slice(0, 4).join(':')}::/64`
}
