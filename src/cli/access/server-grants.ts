import { userGrants } from '../../auth/client/caller/user-grants.ts'
import { fileStore } from '../../auth/client/store/file-store.ts'
import { connectPages } from '../../auth/connect/connect-pages.ts'
import type { CallerCredentials } from '../../mcp/callers/caller-credentials.ts'
import type { ConnectPages } from '../../mcp/callers/connect-pages.ts'
import type { AuthConfig } from '../../router/config/auth/fields.ts'
import type { UpstreamOptions } from '../../router/options.ts'
import { isRecord } from '../../util/objects.ts'
import type { Plan } from '../up/plan.ts'

type Servers = Plan['servers']

/** What users grant the router at servers whose `auth` is `user`, and the pages on which they do. */
export class ServerGrants {
  readonly pages: ConnectPages
  /** The credentials of each server, and the text of the configuration they were made of. */
  readonly #made = new Map<string, { readonly text: string; readonly auth: CallerCredentials }>()

  /** Throws a TypeError for an invalid configuration. */
  constructor(plan: Pick<Plan, 'auth' | 'vault' | 'router' | 'grantKeys'>) {
    const { auth, vault, router } = plan
    // A ring of keys opens what it has sealed for a day or two; grants are stored for longer.
    const keys = Array.isArray(router.keys) ? router.keys : plan.grantKeys
    const login = loginOf(auth)
    this.pages = connectPages({
      ...(auth?.resource !== undefined && { url: new URL('/connect', auth.resource).href }),
      ...(login && { login }),
      ...(keys && { keys }),
      ...(vault !== undefined && { store: fileStore(vault) }),
    })
  }

  /** Returns the options of servers with their credentials; a server that has not changed keeps its own. */
  apply(servers: Servers): Servers {
    const all = Object.entries(servers).map(
      ([name, options]) => [name, this.#withCredentials(name, options)] as const,
    )
    return Object.fromEntries(all)
  }

  #withCredentials(name: string, options: UpstreamOptions): UpstreamOptions {
    const { auth } = options
    if (!isRecord(auth) || !('user' in auth)) return options
    const text = JSON.stringify(auth.user)
    const known = this.#made.get(name)
    if (known?.text === text) return { ...options, auth: known.auth }
    const made = userGrants({ ...auth.user, pages: this.pages, name })
    this.#made.set(name, { text, auth: made })
    return { ...options, auth: made }
  }
}

function loginOf(auth: AuthConfig | undefined) {
  const issuer = [auth?.jwt?.issuer ?? auth?.introspection?.issuer ?? []].flat()[0]
  return auth?.login !== undefined && issuer !== undefined ? { ...auth.login, issuer } : undefined
}
