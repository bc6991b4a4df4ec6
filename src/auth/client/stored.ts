import type { Credentials } from '../../mcp/credentials.ts'
import { oauth } from './oauth.ts'
import { fileStore } from './store/file-store.ts'

/** Makes credentials that use the tokens of `trunkline login`, and never ask a user to log in. */
export function storedCredentials(): Credentials {
  return oauth({ store: fileStore() })
}
