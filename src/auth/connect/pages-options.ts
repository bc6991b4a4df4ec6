import type { TokenStore } from '../client/store/token-store.ts'
import type { BrowserLoginOptions } from './browser-login.ts'

/** Options of `connectPages`. */
export interface ConnectPagesOptions {
  /**
   * The URL of the pages as browsers know it, such as `https://tools.example.com/connect`. By default `/connect` at the
   * address of the listener. Required by `nodeHandler` and `fetchHandler`, which do not know that address.
   */
  readonly url?: string
  /**
   * How browsers log in, so that a page knows whose browser it is. Required unless `listen` serves the pages to this machine only:
   * else somebody could have another user visit a page and then act for them.
   */
  readonly login?: BrowserLoginOptions
  /** Secrets of at least 32 random bytes, as `keys` of a router: the first one seals, all of them open. */
  readonly keys?: readonly Uint8Array[]
  /** Where grants are stored, sealed; in memory by default. */
  readonly store?: TokenStore
  /** How long a link is valid, in milliseconds. */
  readonly ticketMs?: number
}
