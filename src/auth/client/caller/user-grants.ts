import type { AuthHeaders } from '../../../mcp/authenticator.ts'
import {
  type CallerCredentials,
  type GrantPage,
  GrantRequired,
} from '../../../mcp/callers/caller-credentials.ts'
import type { ConnectPages } from '../../../mcp/callers/connect-pages.ts'
import type {
  AuthorizedRequest,
  Credentials,
  CredentialsRefusal,
} from '../../../mcp/credentials.ts'
import { checkOptions } from '../../../util/options.ts'
import { AuthError } from '../../auth-error.ts'
import { grantPagesOf } from '../../connect/grant-pages.ts'
import { oauth } from '../oauth.ts'
import { type OAuthOptions, oauthSettings, oauthTable } from '../options.ts'
import { CredentialsByCaller } from './credentials-by-caller.ts'

/** Options of {@link userGrants}: those of `oauth` that do not depend on a user, and the pages. */
export interface UserGrantsOptions
  extends Omit<
    OAuthOptions,
    'store' | 'redirect' | 'open' | 'loginMs' | 'stepUp' | 'applicationType'
  > {
  /** The pages on which users allow the router to act for them, made by `connectPages`. They keep the grants. */
  readonly pages: ConnectPages
  /** The name of the server, as users know it; by default its host. */
  readonly name?: string
}

/**
 * Makes credentials that act for callers by their own consent: a caller without a grant is asked to visit a page of the
 * router, where the user logs in at the authorization server of the server. Each principal has tokens of its own, which
 * no caller ever sees. Nothing is sent to the server on behalf of a caller who has granted nothing. Throws a TypeError
 * for invalid options.
 */
export function userGrants(options: UserGrantsOptions): CallerCredentials {
  const { store: _s, redirect: _r, open: _o, loginMs: _l, stepUp: _u, ...own } = oauthTable
  checkOptions(options, { ...own, pages: 'object', name: 'string' })
  const { pages: connectPages, name, ...settings } = options
  const pages = grantPagesOf(connectPages)
  oauthSettings(settings)
  return new CredentialsByCaller(({ id, newest, report }) => {
    const stored = oauth({ ...settings, store: pages.vault.of(id) })
    const askFor = ({ server }: CredentialsRefusal, { issuer = '', scopes = [] }: AuthError) => {
      const to = { name: name ?? server.host, options: settings, report }
      return pages.pageFor(newest(), to, { server: server.href, grantedBy: issuer, scopes })
    }
    return new GrantCredentials(stored, askFor)
  })
}

/** The credentials of one caller, whose tokens are in the vault. */
class GrantCredentials implements Credentials {
  readonly #stored: Credentials
  readonly #askFor: (refusal: CredentialsRefusal, error: AuthError) => Promise<GrantPage>

  constructor(
    stored: Credentials,
    askFor: (refusal: CredentialsRefusal, error: AuthError) => Promise<GrantPage>,
  ) {
    this.#stored = stored
    this.#askFor = askFor
  }

  get identity(): string {
    return this.#stored.identity
  }

  headers(request: AuthorizedRequest): AuthHeaders | Promise<AuthHeaders> {
    return this.#stored.headers(request)
  }

  async refused(refusal: CredentialsRefusal, signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#stored.refused(refusal, signal)
    } catch (error) {
      const isMissing = error instanceof AuthError && error.code === 'login-required'
      if (!isMissing || error.issuer === undefined) throw error
      throw new GrantRequired(await this.#askFor(refusal, error))
    }
  }

  onNonce(nonce: string, url: URL): void {
    this.#stored.onNonce?.(nonce, url)
  }
}
