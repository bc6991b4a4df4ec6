import { parseAddress } from '../../address.ts'
import type { AuthOptions } from '../../auth/server/auth-options.ts'
import type { Verifier } from '../../auth/server/verifier.ts'
import type { AuthConfig } from '../../router/config/auth/fields.ts'
import { isLocalAddress } from '../../router/config/values.ts'

/** The options of one listener that authenticates its callers. */
export interface GuardOptions {
  readonly auth: AuthOptions
  /** The name of `resource`, which a proxy in front of an address of this machine passes on. */
  readonly allowedHosts?: readonly string[]
}

/** Makes the options of a listener that authenticates its callers. Throws as {@link callerAuth} does. */
export async function guardOptions(
  config: AuthConfig,
  address: string,
  onError: (error: unknown) => void,
): Promise<GuardOptions> {
  const auth = await callerAuth(config, onError)
  const isNamed = config.resource !== undefined && isLocalAddress(parseAddress(address))
  return { auth, ...(isNamed && { allowedHosts: [new URL(config.resource).host] }) }
}

/** Throws a TypeError if the configuration cannot be used, for example because a key file is missing. */
export async function checkCallerAuth(config: AuthConfig): Promise<void> {
  const { verify = [] } = await callerAuth(config, () => {})
  for (const verifier of [verify].flat()) verifier.close?.()
}

/**
 * Makes the option `auth` of one listener. Each listener has its own verifiers, because a verifier reports withdrawn
 * keys to one listener. Throws a TypeError for a key file that cannot be used.
 */
async function callerAuth(
  { resource, jwt, introspection, apiKeys, scopes }: AuthConfig,
  onError: (error: unknown) => void,
): Promise<AuthOptions> {
  const verify: Verifier[] = []
  if (apiKeys !== undefined) {
    const keys = await import('../../auth/server/verifiers/api-keys.ts')
    const { keyFile } = await import('../../auth/server/node-key-file.ts')
    const { file, header } = apiKeys
    verify.push(keys.apiKeys({ keys: keyFile(file, { onError }), header }))
  }
  if (jwt !== undefined) {
    const verifiers = await import('../../auth/server/verifiers/jwt.ts')
    verify.push(verifiers.jwt(jwt))
  }
  // Last, because it recognizes every token.
  if (introspection !== undefined) {
    const verifiers = await import('../../auth/server/verifiers/introspection.ts')
    verify.push(verifiers.introspection(introspection))
  }
  return { resource, verify, scopes }
}
