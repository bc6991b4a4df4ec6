import { parseAddress } from '../../address.ts'
import type { AuthConfig } from '../../router/config/auth/fields.ts'
import { isLocalAddress } from '../../router/config/values.ts'
import type { DevUser } from '../../testing/dev-issuer/options.ts'
import type { CommandLine } from '../arguments.ts'
import { UsageError } from '../exit.ts'

/** The users if `--dev-auth` names none. */
const defaultUsers = 'ada:admin,bob'

/** An authorization server for development that runs beside a router or a server. */
export interface DevAuth {
  /** Accepts the tokens of this authorization server. */
  readonly config: AuthConfig
  readonly issuer: string
  readonly users: readonly DevUser[]
  close(): Promise<void>
}

/** Returns the users of `--dev-auth`; undefined if the option is not given. Throws a UsageError for invalid ones. */
export function devUsersOf(
  input: Pick<CommandLine, 'value'>,
  addresses: readonly string[],
  hasOtherAuth: boolean,
): readonly DevUser[] | undefined {
  const text = input.value('dev-auth')
  if (text === undefined) return undefined
  if (hasOtherAuth) throw new UsageError('--dev-auth and another "auth" are both given; use one')
  for (const address of addresses) {
    const where = parseAddress(address)
    if (!isLocalAddress(where)) {
      const why = 'anybody who reaches it can log in as anybody'
      throw new UsageError(`--dev-auth is for addresses of this machine, not ${address}: ${why}`)
    }
    if (!['http', 'websocket', 'stdio'].includes(where.kind))
      throw new UsageError(`--dev-auth guards http: and ws: addresses, not ${address}`)
  }
  return (text === '' ? defaultUsers : text).split(',').map(readUser)
}

/** Reads a user: a name, and roles after colons. */
function readUser(text: string): DevUser {
  const [sub = '', ...roles] = text.split(':')
  if (![sub, ...roles].every(word => /^[\w.@+-]+$/.test(word))) {
    const form = 'names, each with roles after colons: --dev-auth=ada:admin,bob'
    throw new UsageError(`--dev-auth: "${text}" is not a user; write ${form}`)
  }
  return roles.length === 0 ? { sub } : { sub, roles }
}

/** Starts the authorization server on a free port of this machine. */
export async function startDevAuth(users: readonly DevUser[]): Promise<DevAuth> {
  const { devIssuer } = await import('../../testing/dev-issuer/dev-issuer.ts')
  const { issuer, close } = await devIssuer({ users })
  return { config: { jwt: { issuer, rolesFrom: 'roles' } }, issuer, users, close }
}

/** Returns the text that tells a developer who can log in, and where. */
export function devAuthText({ issuer, users }: Pick<DevAuth, 'issuer' | 'users'>): string {
  const names = users.map(({ sub, roles = [] }) =>
    roles.length === 0 ? sub : `${sub} (${roles.join(', ')})`,
  )
  return `for development only: ${issuer} logs anybody on this machine in, without a password, as ${names.join(' or ')}`
}
