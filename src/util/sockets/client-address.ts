import { type AddressPolicy, countedAddress, plainAddress } from './address.ts'

/**
 * Returns the name under which the client of a request is counted; undefined if it is not limited. A
 * request of a trusted proxy is that of the last address in `X-Forwarded-For` that is not such a proxy.
 */
export function clientAddress(
  remoteAddress: string | undefined,
  forwardedFor: string | undefined,
  policy: AddressPolicy,
): string | undefined {
  const { isProxy } = policy
  if (remoteAddress === undefined || isProxy?.(plainAddress(remoteAddress)) !== true) {
    return countedAddress(remoteAddress, policy)
  }
  const hops = forwardedFor?.split(',') ?? []
  const client = hops.reverse().find(hop => !isProxy(plainAddress(hop.trim())))
  return countedAddress(client?.trim().slice(0, maxAddressLength), policy)
}

/** Longer than any address, and short enough to keep. */
const maxAddressLength = 64
