import { AuthError } from '../auth-error.ts'

/**
 * Binds credentials to the server that they are first used for, and what is secret of them to its authorization
 * server: no other server ever gets anything of them.
 */
export class ServerBinding {
  #server: URL | undefined
  #href = ''
  #issuer: string | undefined

  /** Throws an AuthError `'resource-mismatch'` for another server than the first one. */
  check(server: URL): void {
    if (server === this.#server) return
    if (this.#server === undefined) this.#href = server.href
    else if (server.href !== this.#href) {
      const words = `these credentials belong to ${this.#href}, not to ${server.href}; make others for it`
      throw new AuthError('resource-mismatch', words, { url: server.href })
    }
    this.#server = server
  }

  /**
   * Throws an AuthError `'issuer-mismatch'` for another authorization server than the first one; `known` is the one of
   * an earlier program.
   */
  checkIssuer(issuer: string, known?: string): void {
    this.#issuer ??= known ?? issuer
    if (issuer === this.#issuer) return
    const words = `the server now uses ${issuer}; the client is registered with ${this.#issuer}, and its id is not sent elsewhere`
    throw new AuthError('issuer-mismatch', words, { issuer: this.#issuer })
  }
}
