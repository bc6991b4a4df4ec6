/**
 * Keeps tokens and registrations for later connections, as text by key. `memoryStore` and `fileStore` are
 * implementations; a program may have one of its own, for example over the keychain of the system.
 */
export interface TokenStore {
  /** Resolves to the value of a key; to undefined if there is none. */
  get(key: string): Promise<string | undefined>
  /** Stores a value, and replaces the one before. */
  set(key: string, value: string): Promise<void>
  /** Removes a value; if one is given, only if it is still the stored one. */
  remove(key: string, value?: string): Promise<void>
  /**
   * Runs `work` while nobody else runs work for the same key, in this process or in another that uses the store:
   * a refresh token that two programs use at the same time is lost for both.
   */
  exclusive<T>(key: string, work: () => Promise<T>): Promise<T>
  /** Resolves to all keys; only needed to remove everything. */
  keys?(): Promise<readonly string[]>
}
