import type { AddressClass } from './address-class.ts'
import type { NetworkResponse } from './network.ts'

/** How far requests for authorization may reach: to the internet, to the local network too, or also to this machine. */
export type NetworkReach = Exclude<AddressClass, 'forbidden'>

/** How requests for authorization are sent: to metadata, to authorization servers and to their keys. */
export interface NetworkOptions {
  /**
   * Which addresses may be requested. By default as far away as the MCP server is itself: a server on the
   * internet cannot make this program send requests into the local network, or to this machine.
   */
  readonly reach?: NetworkReach
  /** Resolves a host name to IP addresses, instead of the resolver of the system. */
  readonly lookup?: (host: string) => Promise<readonly string[]>
  /**
   * Sends every request instead of own connections. The addresses that it connects to cannot be checked; it must
   * not follow redirects.
   */
  readonly fetch?: (url: URL, init: RequestInit) => Promise<Response>
  /** The certificates of authorities to trust, as PEM, instead of those that Node.js trusts. */
  readonly ca?: string
}

/** One request for authorization. */
export interface GuardedRequest {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Maximum size of the response; with 0 its body is not read. */
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** Throws for an IP address that must not be connected to. */
  readonly checkAddress: (address: string) => void
}

/** Sends one request, without following redirects. Rejects if the body is larger than `maxBytes`. */
export type SendGuardedRequest = (
  request: GuardedRequest,
  options: NetworkOptions,
) => Promise<NetworkResponse>
