import { existsSync } from 'node:fs'
import { scopeText } from '../../../auth/documents/scope.ts'
import { readKeys } from '../../../auth/server/node-key-file.ts'
import { type ApiKeyRecord, newApiKey } from '../../../auth/server/verifiers/api-keys.ts'
import type { AuditSink, KeyAudit } from '../../../observe/audit/record.ts'
import { withLock } from '../../../util/files/file-lock.ts'
import { replaceFile } from '../../../util/files/replace-file.ts'
import { limits } from '../../../util/limits/limits.ts'
import { didYouMean } from '../../../util/nearest.ts'
import { withAuditLog } from '../../access/command-audit.ts'
import type { CommandLine } from '../../arguments.ts'
import { exitCodes, UsageError, withUsageErrors } from '../../exit.ts'
import type { Invocation, Run } from '../../invocation.ts'

/** `trunkline keys`: makes, lists and revokes the API keys of a file, which has only their digests. */
export const run: Run = async invocation => {
  const [action = '', name] = invocation.input.operands
  const file = invocation.input.value('file')
  if (file === undefined) throw new UsageError('--file is missing, the file of the keys')
  const work = actions.get(action)
  if (work === undefined) {
    const names = [...actions.keys()]
    const hint = didYouMean(action, names) || `; use ${names.join(', ')}`
    throw new UsageError(`keys cannot "${action}"${hint}`)
  }
  await withUsageErrors(() =>
    withAuditLog(invocation, audit => work({ file, name, audit, ...invocation })),
  )
  return exitCodes.ok
}

interface KeysInvocation extends Invocation {
  readonly file: string
  readonly name: string | undefined
  /** Records changes; undefined if they are not recorded. */
  readonly audit: AuditSink | undefined
}

const actions: ReadonlyMap<string, (invocation: KeysInvocation) => Promise<void>> = new Map([
  ['new', create],
  ['list', list],
  ['revoke', revoke],
])

async function create({ file, name, audit, input, terminal }: KeysInvocation): Promise<void> {
  const owner = requiredName(name)
  const [scopes, roles] = [input.values('scope'), input.values('role')]
  const expires = expiryOf(input)
  const { key, record } = await newApiKey(owner, {
    ...(scopes.length > 0 && { scopes }),
    ...(roles.length > 0 && { roles }),
    ...(expires !== undefined && { expires }),
  })
  await change(file, keys => {
    if (keys.some(one => one.name === owner))
      throw new UsageError(
        `${file} has a key "${owner}" already; revoke it first, or use another name`,
      )
    return [...keys, record]
  })
  await audit?.record(keyAudit('created', record))
  const { id } = record
  if (input.has('json')) terminal.json({ key, id, name: owner, scopes, roles, expires })
  else {
    terminal.line(key)
    terminal.note(
      `This is the key of "${owner}". It is shown once, and ${file} has only its digest.`,
    )
  }
}

async function list({ file, input, terminal }: KeysInvocation): Promise<void> {
  const keys = readKeys(file).map(({ sha256: _, ...about }) => about)
  if (input.has('json')) terminal.json({ file, keys })
  else for (const key of keys) terminal.line(keyText(key, Date.now()))
  if (keys.length === 0) terminal.note(`${file} has no keys`)
}

async function revoke({ file, name, audit, input, terminal }: KeysInvocation): Promise<void> {
  const owner = requiredName(name)
  readKeys(file)
  let revoked: ApiKeyRecord | undefined
  await change(file, keys => {
    revoked = keys.find(one => one.name === owner)
    if (revoked !== undefined) return keys.filter(one => one !== revoked)
    const hint = didYouMean(
      owner,
      keys.map(one => one.name),
    )
    throw new UsageError(`${file} has no key "${owner}"${hint}`)
  })
  if (revoked !== undefined) await audit?.record(keyAudit('revoked', revoked))
  if (input.has('json')) terminal.json({ revoked: owner })
  else terminal.line(`revoked: ${owner}`)
}

/** Replaces the keys of a file, while no other process does. A new file can be read by its owner only. */
async function change(
  file: string,
  next: (keys: readonly ApiKeyRecord[]) => readonly ApiKeyRecord[],
): Promise<void> {
  await withLock(`${file}.lock`, limits.storeLockMs.default, async () => {
    const keys = next(existsSync(file) ? readKeys(file) : [])
    await replaceFile(file, `${JSON.stringify({ keys }, null, 2)}\n`, { mode: 0o600 })
  })
}

/** Returns what is recorded of a key: neither the key nor its digest. */
function keyAudit(
  outcome: KeyAudit['outcome'],
  { id, name, scopes = [], expires }: ApiKeyRecord,
): KeyAudit {
  return {
    event: 'key',
    outcome,
    key: id,
    principal: `key:${name}`,
    scope: scopeText(scopes),
    expires,
  }
}

function requiredName(name: string | undefined): string {
  if (name !== undefined) return name
  throw new UsageError('the name of the key is missing: trunkline keys new NAME --file FILE')
}

/** Returns the time at which a key with `--expires 90d` expires; undefined for never. */
function expiryOf(input: CommandLine): string | undefined {
  const text = input.value('expires')
  if (text === undefined) return undefined
  const [, digits = '', unit = ''] = /^([1-9]\d{0,5})([hd])$/.exec(text) ?? []
  if (digits === '')
    throw new UsageError(
      `--expires must be a number of days or hours such as 90d or 12h (got "${text}")`,
    )
  const ms = Number(digits) * (unit === 'd' ? 86_400_000 : 3_600_000)
  return new Date(Date.now() + ms).toISOString()
}

function keyText(
  { id, name, scopes = [], roles = [], expires, disabled }: Omit<ApiKeyRecord, 'sha256'>,
  now: number,
): string {
  const isExpired = expires !== undefined && Date.parse(expires) <= now
  const parts = [
    `id ${id}`,
    ...(scopes.length > 0 ? [`scopes ${scopes.join(' ')}`] : []),
    ...(roles.length > 0 ? [`roles ${roles.join(' ')}`] : []),
    expires === undefined ? 'no expiry' : `${isExpired ? 'expired' : 'valid until'} ${expires}`,
    ...(disabled === true ? ['disabled'] : []),
  ]
  return `${name} (${parts.join(', ')})`
}
