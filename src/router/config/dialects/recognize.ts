import type { ConfigNode, ObjectNode } from '../text.ts'
import type { HostDialect } from './dialect.ts'
import { isObject, valueAt } from './nodes.ts'
import { dialects } from './table.ts'

/** The dialect of a file, and how it was found. */
export interface Recognized {
  readonly dialect: HostDialect
  /** Whether the file was written for the router. */
  readonly isOwn: boolean
  /** Whether the path or the `$schema` of the file names the host. */
  readonly isNamed: boolean
}

/** Finds the dialect of a file by its path, by its `$schema`, or by the place of its servers. */
export function recognize(root: ObjectNode, file: string | undefined): Recognized {
  const path = file?.replaceAll('\\', '/') ?? ''
  const schema = root.members.get('$schema')?.value
  const isSchema = ({ schema: pattern }: HostDialect): boolean =>
    schema?.type === 'string' && pattern?.test(schema.value) === true
  const named =
    dialects.find(({ files }) => files?.test(path)) ?? dialects.find(one => isSchema(one))
  const isOwn = named === dialects[0] || ownSettings.some(key => root.members.has(key))
  // The host of a path may have changed its format: then the contents decide.
  if (named !== undefined && holdsServers(root, named))
    return { dialect: named, isOwn, isNamed: true }
  const found = dialects.slice(1).find(dialect => holdsServers(root, dialect))
  if (found !== undefined) {
    return { dialect: { ...found, timeout: undefined }, isOwn, isNamed: false }
  }
  return { dialect: named ?? common, isOwn, isNamed: named !== undefined }
}

const common: HostDialect = {
  host: 'hosts with mcpServers',
  servers: [['mcpServers'], ['servers']],
}

/** Settings that no host has: a file with one of them was written for the router. */
const ownSettings = [
  'listen',
  'public',
  'auth',
  'policy',
  'audit',
  'pageSize',
  'limits',
  'parkedMs',
  'deadLetters',
  'metrics',
  'logLevel',
]

/** Whether a file has servers where this dialect has them. */
function holdsServers(root: ObjectNode, { servers }: HostDialect): boolean {
  return servers.some(path => {
    const node = valueAt(root, path)
    if (node === undefined) return false
    // These names mean nothing else.
    return path[0] === 'mcpServers' || path[0] === 'servers' || isServers(node)
  })
}

function isServers(node: ConfigNode): boolean {
  if (!isObject(node)) return false
  const entries = Array.from(node.members.values(), ({ value }) => value)
  return entries.length === 0 || entries.some(entry => isObject(entry) && isServer(entry))
}

function isServer({ members }: ObjectNode): boolean {
  return ['command', 'url', 'urls', 'type', 'cmd', 'uri', 'source', 'config', 'settings'].some(
    key => members.has(key),
  )
}
