import { parseAddress } from '../../address.ts'
import { upstreamCredentials } from '../../dial.ts'
import type { Credentials } from '../../mcp/credentials.ts'
import { isForCallers } from '../../router/upstream/target.ts'
import type { CommandLine } from '../arguments.ts'
import { UsageError } from '../exit.ts'
import type { CommandTarget } from './target.ts'

/**
 * Returns how requests to a target are authorized: as its configuration says, or `'stored'` if `--auth stored` is given, or if `trunkline login` has
 * stored a login for its address and nothing else authorizes them. Throws a UsageError if `--auth` contradicts the
 * target.
 */
export async function authOf(
  target: CommandTarget,
  input: Pick<CommandLine, 'value'>,
): Promise<Credentials | 'stored' | undefined> {
  const server = serverUrl(target)
  const mode = input.value('auth')
  const isAsked = mode === 'stored'
  if (isAsked && server === undefined)
    throw new UsageError('--auth applies to HTTP and WebSocket addresses')
  if (mode === 'none' || server === undefined) return undefined
  if (Object.keys(target.headers ?? {}).some(name => /^authorization$/i.test(name))) {
    if (!isAsked) return undefined
    throw new UsageError('--auth stored and the header "Authorization" are both given; use one')
  }
  if (isAsked) return 'stored'
  if (isForCallers(target.auth))
    throw new UsageError(
      'this server is used on behalf of the callers of a router; call it through the router, or use --auth stored',
    )
  if (target.auth !== undefined) return upstreamCredentials(target.auth)
  // Apart from the rest of authorization, which most commands never need.
  const { hasStoredLogin } = await import('../../auth/client/store/node-token-folder.ts')
  return hasStoredLogin(server.href) ? 'stored' : undefined
}

/**
 * Returns a target whose headers have its stored token, for a command that sends requests of its own. Throws a
 * UsageError for a token that is bound to a key, because each request would need a proof.
 */
export async function withStoredHeaders(
  target: CommandTarget,
  input: Pick<CommandLine, 'value'>,
): Promise<CommandTarget> {
  const server = serverUrl(target)
  const auth = await authOf(target, input)
  if (server === undefined || auth === undefined) return target
  const credentials = await upstreamCredentials(auth)
  const sent = await credentials.headers({ method: 'POST', url: server, server })
  if (sent.dpop !== undefined)
    throw new UsageError('the stored token is bound to a key, which this command does not support')
  return { ...target, headers: { ...target.headers, ...sent } }
}

/** Returns the address at which to log in. Throws a UsageError for a target without HTTP headers. */
export function loginTarget(target: CommandTarget): URL {
  const server = serverUrl(target)
  if (server !== undefined) return server
  throw new UsageError(`a login is for an http: or https: address, and "${target.name}" is none`)
}

/** Returns the address of a target as its logins have it; undefined for a target without HTTP headers. */
function serverUrl({ where }: Pick<CommandTarget, 'where'>): URL | undefined {
  const address = typeof where === 'string' ? parseAddress(where) : undefined
  if (address?.kind !== 'http' && address?.kind !== 'websocket') return undefined
  const url = new URL(address.url)
  if (url.protocol === 'ws:') url.protocol = 'http:'
  if (url.protocol === 'wss:') url.protocol = 'https:'
  return url
}
