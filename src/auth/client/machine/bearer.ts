import type { AuthHeaders } from '../../../mcp/authenticator.ts'
import type {
  AuthorizedRequest,
  Credentials,
  CredentialsRefusal,
} from '../../../mcp/credentials.ts'
import { formatValue } from '../../../util/options.ts'
import { AuthError } from '../../auth-error.ts'
import { ServerBinding } from '../binding.ts'
import { noCredentials } from '../held-tokens.ts'

/** A token, or a function that is called for the current one before each request. */
export type BearerToken = string | (() => string | Promise<string>)

/**
 * Makes credentials of a token that the program has already, such as an API key. A token that the server refuses is
 * not renewed, unless a function returns another one. It is sent to the first server that the credentials are used
 * for, and to no other. Throws a TypeError for a token that cannot be sent in a header.
 */
export function bearer(token: BearerToken): Credentials {
  if (typeof token !== 'function') checkToken(token)
  return new BearerCredentials(token)
}

class BearerCredentials implements Credentials {
  readonly #token: BearerToken
  readonly #binding = new ServerBinding()
  #headers: AuthHeaders = noCredentials
  #changes = 0

  constructor(token: BearerToken) {
    this.#token = token
  }

  get identity(): string {
    return this.#changes === 0 ? '' : `bearer ${this.#changes}`
  }

  headers({ server }: AuthorizedRequest): AuthHeaders | Promise<AuthHeaders> {
    this.#binding.check(server)
    const token = typeof this.#token === 'string' ? this.#token : this.#token()
    return token instanceof Promise ? token.then(text => this.#use(text)) : this.#use(token)
  }

  async refused({ server, status, sent }: CredentialsRefusal): Promise<boolean> {
    if (status === 403) return false
    const isChanged = typeof this.#token === 'function' && sent !== this.#use(await this.#token())
    if (isChanged) return true
    throw new AuthError('denied', `${server.href} refuses the token`, { url: server.href })
  }

  /** Returns the headers with a token; the same object for as long as the token is the same. */
  #use(token: string): AuthHeaders {
    const authorization = `Bearer ${token}`
    if (this.#headers.authorization === authorization) return this.#headers
    checkToken(token)
    this.#changes++
    this.#headers = Object.freeze({ authorization })
    return this.#headers
  }
}

function checkToken(token: unknown): void {
  if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return
  const shown = typeof token === 'string' ? 'other characters' : formatValue(token)
  throw new TypeError(`a bearer token has only visible ASCII characters (got ${shown})`)
}
