/**
 * How far an IP address reaches: `public` addresses are on the internet, `private` ones in a local network,
 * `loopback` ones on this machine. `forbidden` ones are never requested for authorization: link-local addresses,
 * at which clouds publish credentials of their machines, multicast, and addresses that are reserved.
 */
export type AddressClass = 'public' | 'private' | 'loopback' | 'forbidden'

/** Returns the class of an IP address, without brackets; undefined if the text is no IP address. */
export function addressClass(text: string): AddressClass | undefined {
  const address = text.replace(/%.*$/, '')
  const four = bytesOfIPv4(address)
  if (four !== undefined) return classOfIPv4(four)
  const eight = groupsOfIPv6(address)
  return eight === undefined ? undefined : classOfIPv6(eight)
}

/** An IPv4 network, its prefix length, and the class of its addresses. The first that matches counts. */
type NetworkRow = readonly [network: string, bits: number, is: AddressClass]

const networks: readonly NetworkRow[] = [
  // Machines of clouds that publish credentials outside of the link-local network.
  ['100.100.100.200', 32, 'forbidden'],
  ['168.63.129.16', 32, 'forbidden'],
  ['192.0.0.192', 32, 'forbidden'],
  ['0.0.0.0', 32, 'loopback'],
  ['0.0.0.0', 8, 'forbidden'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'private'],
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'forbidden'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'forbidden'],
  ['192.0.2.0', 24, 'forbidden'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'private'],
  ['198.51.100.0', 24, 'forbidden'],
  ['203.0.113.0', 24, 'forbidden'],
  ['224.0.0.0', 3, 'forbidden'],
]

function classOfIPv4(bytes: readonly number[]): AddressClass {
  const value = numberOf(bytes)
  const row = networks.find(([network, bits]) => {
    const size = 2 ** (32 - bits)
    const first = numberOf(bytesOfIPv4(network) ?? [])
    return value >= first && value < first + size
  })
  return row === undefined ? 'public' : row[2]
}

function classOfIPv6(groups: readonly number[]): AddressClass {
  const [first = 0, second = 0] = groups
  const isZero = (from: number, to: number) => groups.slice(from, to).every(group => group === 0)
  if (isZero(0, 7)) return (groups[7] ?? 0) <= 1 ? 'loopback' : 'forbidden'
  // Addresses that contain an IPv4 address: mapped, compatible, NAT64 and 6to4.
  if (isZero(0, 5) && groups[5] === 0xffff) return embedded(groups, 6)
  if (isZero(0, 6)) return embedded(groups, 6)
  if (first === 0x64 && second === 0xff9b) return embedded(groups, 6)
  if (first === 0x2002) return embedded(groups, 1)
  // The address of the metadata of machines at Amazon.
  if (first === 0xfd00 && second === 0xec2) return 'forbidden'
  if ((first & 0xfe00) === 0xfc00) return 'private'
  // Only 2000::/3 is routed; Teredo (2001::/32) and documentation (2001:db8::/32) are not.
  const isRouted = (first & 0xe000) === 0x2000
  const isReserved = first === 0x2001 && (second === 0 || second === 0xdb8)
  return isRouted && !isReserved ? 'public' : 'forbidden'
}

function embedded(groups: readonly number[], at: number): AddressClass {
  const bytes = groups.slice(at, at + 2).flatMap(group => [group >> 8, group & 0xff])
  return classOfIPv4(bytes)
}

function bytesOfIPv4(text: string): readonly number[] | undefined {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return undefined
  const bytes = text.split('.').map(Number)
  return bytes.every(byte => byte <= 255) ? bytes : undefined
}

function numberOf(bytes: readonly number[]): number {
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0)
}

/** Returns the eight groups of an IPv6 address; undefined if the text is none. */
function groupsOfIPv6(text: string): readonly number[] | undefined {
  if (!/^[\da-f:.]+$/i.test(text) || !text.includes(':')) return undefined
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map(groupsOf)
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined
  const missing = 8 - head.length - (tail?.length ?? 0)
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  return [...head, ...Array.from({ length: missing }, () => 0), ...(tail ?? [])]
}

function groupsOf(half: string): readonly number[] | undefined {
  if (half === '') return []
  const groups: number[] = []
  for (const part of half.split(':')) {
    const four = bytesOfIPv4(part)
    if (four !== undefined) groups.push(numberOf(four.slice(0, 2)), numberOf(four.slice(2)))
    else if (/^[\da-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16))
    else return undefined
  }
  return groups
}
