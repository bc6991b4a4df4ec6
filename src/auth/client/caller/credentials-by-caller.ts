import type { Principal } from '../../../jsonrpc/channel.ts'
import { type CallerCredentials, credentialKey } from '../../../mcp/caller-credentials.ts'
import type { Credentials } from '../../../mcp/credentials.ts'
import { BoundedMap } from '../../../util/bounded-map.ts'
import { limits } from '../../../util/limits/limits.ts'

interface Entry {
  readonly credentials: Credentials
  /** The principal of the caller's newest token. */
  newest: Principal
}

/**
 * Keeps credentials for each caller and server, at most `exchangedTokens`; the least recently used are forgotten, and
 * their tokens with them. `make` gets a function that returns the principal of the caller's newest token, and the one of the
 * first.
 */
export class CredentialsByCaller implements CallerCredentials {
  readonly #make: (newest: () => Principal, first: Principal) => Credentials
  /** The least recently used entry is the oldest. */
  readonly #entries: BoundedMap<Entry>

  constructor(
    make: (newest: () => Principal, first: Principal) => Credentials,
    max: number = limits.exchangedTokens.default,
  ) {
    this.#make = make
    this.#entries = new BoundedMap(max, Number.POSITIVE_INFINITY)
  }

  for(principal: Principal, server: URL): Credentials {
    const key = `${credentialKey(principal)} ${server.href}`
    const entry = this.#entries.get(key) ?? this.#entryOf(principal)
    if (isLonger(principal, entry.newest)) entry.newest = principal
    this.#entries.set(key, entry, 0)
    return entry.credentials
  }

  #entryOf(principal: Principal): Entry {
    const entry: Entry = {
      newest: principal,
      credentials: this.#make(() => entry.newest, principal),
    }
    return entry
  }
}

/** Whether the token of one principal is valid for longer than that of another. */
function isLonger({ expiresAt }: Principal, than: Principal): boolean {
  return (expiresAt ?? Number.POSITIVE_INFINITY) > (than.expiresAt ?? Number.POSITIVE_INFINITY)
}
