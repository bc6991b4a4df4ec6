import type { TokenStore } from './token-store.ts'

/** Options of {@link fileStore}. */
export interface FileStoreOptions {
  /** Time in milliseconds after which a lock counts as abandoned, if its process does not renew it. */
  readonly lockMs?: number
}

/**
 * Makes a store of files that only the user can read, shared by all programs of the user that name the same
 * folder. By default it is the one of the command line: `trunkline/tokens` in the folder for the state of programs. A
 * file or folder that others could read or replace is refused with an AuthError `'insecure'`. Node.js only.
 */
export function fileStore(folder?: string, options: FileStoreOptions = {}): TokenStore {
  let opened: Promise<TokenStore> | undefined
  const store = () => {
    opened ??= import('./node-file-store.ts').then(({ openFileStore }) =>
      openFileStore(folder, options.lockMs),
    )
    return opened
  }
  return {
    get: async key => (await store()).get(key),
    set: async (key, value) => (await store()).set(key, value),
    remove: async (key, value) => (await store()).remove(key, value),
    exclusive: async (key, work) => (await store()).exclusive(key, work),
    keys: async () => (await (await store()).keys?.()) ?? [],
  }
}
