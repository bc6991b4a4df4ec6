import type { Principal } from '../../../jsonrpc/channel.ts'
import type { AuthorizationEvent } from '../../../mcp/callers/authorization-event.ts'
import { type CallerCredentials, credentialKey } from '../../../mcp/callers/caller-credentials.ts'
import type { Credentials } from '../../../mcp/credentials.ts'
import { BoundedMap } from '../../../util/bounded-map.ts'
import { limits } from '../../../util/limits/limits.ts'

interface Entry {
  readonly credentials: Credentials
  /** The principal of the caller's newest token. */
  newest: Principal
  onEvent: ((event: AuthorizationEvent) => void) | undefined
}

/** One caller, for whom credentials are made. */
export interface ActedFor {
  /** The id of the principal. */
  readonly id: string
  /** Returns the principal of the caller's newest token. */
  newest(): Principal
  /** Reports what happens while the credentials are obtained. */
  report(event: AuthorizationEvent): void
}

/**
 * Keeps credentials for each caller and server, at most `exchangedTokens`; the least recently used are forgotten, and
 * their tokens with them.
 */
export class CredentialsByCaller implements CallerCredentials {
  readonly #make: (caller: ActedFor) => Credentials
  /** The least recently used entry is the oldest. */
  readonly #entries: BoundedMap<Entry>

  constructor(
    make: (caller: ActedFor) => Credentials,
    max: number = limits.exchangedTokens.default,
  ) {
    this.#make = make
    this.#entries = new BoundedMap(max, Number.POSITIVE_INFINITY)
  }

  for(
    principal: Principal,
    server: URL,
    onEvent?: (event: AuthorizationEvent) => void,
  ): Credentials {
    const key = `${credentialKey(principal)} ${server.href}`
    const entry = this.#entries.get(key) ?? this.#entryOf(principal)
    if (isLonger(principal, entry.newest)) entry.newest = principal
    entry.onEvent = onEvent
    this.#entries.set(key, entry, 0)
    return entry.credentials
  }

  #entryOf(principal: Principal): Entry {
    const entry: Entry = {
      newest: principal,
      onEvent: undefined,
      credentials: this.#make({
        id: principal.id,
        newest: () => entry.newest,
        report: event => entry.onEvent?.(event),
      }),
    }
    return entry
  }
}

/** Whether the token of one principal is valid for longer than that of another. */
function isLonger({ expiresAt }: Principal, than: Principal): boolean {
  return (expiresAt ?? Number.POSITIVE_INFINITY) > (than.expiresAt ?? Number.POSITIVE_INFINITY)
}
