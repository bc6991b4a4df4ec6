import { GuardedNetwork } from './guarded-network.ts'
import type { NetworkOptions } from './guarded-request.ts'
import type { Network } from './network.ts'

/**
 * Sends requests to issuers that the operator of a server has chosen, and to URLs that their metadata name. The chosen
 * ones may be anywhere. The others are checked: they reach no further than the issuer itself, so that an issuer on the
 * internet cannot make the server send requests into its local network.
 */
export function issuerNetwork(chosen: readonly string[], options: NetworkOptions = {}): Network {
  const guarded = new GuardedNetwork(options)
  const origins = new Set(chosen.map(url => new URL(url).origin))
  return (url, request) => {
    const target = new URL(url)
    return origins.has(target.origin)
      ? guarded.sendChosen(target, request)
      : guarded.sendNamed(target, request)
  }
}
