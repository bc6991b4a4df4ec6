/** What a listener for redirects needs to know. */
export interface RedirectOptions {
  /** The addresses with which this client is registered, one of which is used again if possible. */
  readonly registered: readonly string[]
  /** Whether a redirect belongs to this login; others are refused, and the wait goes on. */
  readonly isExpected: (callback: URL) => boolean
}

/** Waits for the browser to return from a login. */
export interface RedirectListener {
  /** The addresses that the browser may be sent to, the preferred one first. */
  readonly uris: readonly string[]
  /** Resolves to the address to which the browser was redirected. */
  readonly callback: Promise<URL>
  /** Stops waiting. Idempotent. */
  close(): Promise<void>
}

/** Where the browser returns to after a login. `loopback()` is an implementation. */
export interface Redirect {
  /** Starts to wait for a redirect. */
  listen(options: RedirectOptions): Promise<RedirectListener>
}

/** Makes a redirect to an address that the option `open` handles itself. */
export function fixedRedirect(uri: string): Redirect {
  return {
    listen: async () => ({ uris: [uri], callback: new Promise(() => {}), close: async () => {} }),
  }
}
