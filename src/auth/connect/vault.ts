import type { Sealer } from '../../util/crypto/seal.ts'
import { recordKeys } from '../client/store/records.ts'
import { type StoredLogin, storedLogin } from '../client/store/stored-logins.ts'
import type { TokenStore } from '../client/store/token-store.ts'

/** What users have granted a router, in a store whose values nobody reads without the keys of the router. */
export class Vault {
  readonly #store: TokenStore
  readonly #sealer: Sealer

  constructor(store: TokenStore, sealer: Sealer) {
    this.#store = store
    this.#sealer = sealer
  }

  /**
   * Returns the part of the vault that belongs to a principal. Only the registrations of the router with authorization
   * servers are the same for all principals. A value that the keys do not open counts as absent.
   */
  of(principal: string): TokenStore {
    const store = this.#store
    const keyOf = (key: string): string =>
      key.startsWith(recordKeys.registration('')) ? `${shared}${key}` : entryKey(principal, key)
    const open = async (key: string, sealed: string | undefined): Promise<string | undefined> => {
      if (sealed === undefined) return undefined
      const opened = await this.#sealer.open(sealed, bindingOf(key))
      return opened.ok && typeof opened.value === 'string' ? opened.value : undefined
    }
    // Without `keys`: a registration is never known to be unused, because other principals may use it.
    return {
      get: async name => {
        const key = keyOf(name)
        return open(key, await store.get(key))
      },
      set: async (name, value) => {
        const key = keyOf(name)
        await store.set(key, await this.#sealer.seal(value, bindingOf(key), { ttlMs: lastingMs }))
      },
      remove: async (name, value) => {
        const key = keyOf(name)
        if (value === undefined) return store.remove(key)
        const sealed = await store.get(key)
        if (sealed !== undefined && (await open(key, sealed)) === value)
          await store.remove(key, sealed)
      },
      exclusive: (name, work) => store.exclusive(keyOf(name), work),
    }
  }

  /** Lists what users have granted, without tokens, in the order of principals and servers. */
  async list(): Promise<readonly UserGrant[]> {
    const keys = (await this.#store.keys?.()) ?? []
    const found = keys
      .flatMap(key => entryOf(key) ?? [])
      .sort((a, b) => (a.order < b.order ? -1 : 1))
    const grants = await Promise.all(
      found.map(async ({ principal, server }) => {
        const login = await storedLogin(this.of(principal), server)
        return login && { principal, ...login }
      }),
    )
    return grants.filter(grant => grant !== undefined)
  }
}

/** What a user has granted at one server, without the tokens. */
export interface UserGrant extends StoredLogin {
  /** The id of the principal. */
  readonly principal: string
}

const shared = 'router '
const ofUser = 'user '

// Sealed values need an expiry. It is later than that of any token in the vault.
const lastingMs = 100 * 365 * 86_400_000

/** Bound to its key, a value that somebody moves to the key of another principal does not open. */
function bindingOf(key: string) {
  return { purpose: 'vault', method: key } as const
}

function entryKey(principal: string, key: string): string {
  return `${ofUser}${encodeURIComponent(principal)} ${key}`
}

/** Returns whose login a key stands for; undefined for the key of anything else. */
function entryOf(
  key: string,
): { readonly principal: string; readonly server: string; readonly order: string } | undefined {
  if (!key.startsWith(ofUser)) return undefined
  const [encoded = '', ...rest] = key.slice(ofUser.length).split(' ')
  const name = rest.join(' ')
  const prefix = recordKeys.login('')
  if (!name.startsWith(prefix)) return undefined
  return { principal: decodeURIComponent(encoded), server: name.slice(prefix.length), order: key }
}
