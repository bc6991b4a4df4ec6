import { nearest } from '../../../util/nearest.ts'
import type { References } from '../env.ts'
import { type ConfigIssue, type ConfigPath, type Position, pathText } from '../issue.ts'
import type { ConfigNode, Member, ObjectNode } from '../text.ts'
import { type HostDialect, workspace } from './dialect.ts'
import { validNames } from './names.ts'
import {
  booleanNode,
  isComment,
  isObject,
  memberOf,
  objectNode,
  stringsOf,
  valueAt,
} from './nodes.ts'
import { recognize } from './recognize.ts'
import { translateServer } from './server.ts'

/** A server of a file. */
export interface FoundServer {
  /** The name in the router. */
  readonly name: string
  readonly path: ConfigPath
  readonly at: Position
  /** The entry in our own terms. */
  readonly node: ConfigNode
  readonly issues: readonly ConfigIssue[]
}

/** The contents of a file, whichever host it was written for. */
export interface FoundFile {
  readonly dialect: HostDialect
  /** Whether the file was written for the router, so that unknown settings are mistakes. */
  readonly isOwn: boolean
  /** The settings of the router. */
  readonly settings: ObjectNode
  readonly servers: readonly FoundServer[]
  readonly issues: readonly ConfigIssue[]
}

/** Finds the servers of a file and translates them, and the settings of the router, into our own terms. */
export function translateFile(
  root: ObjectNode,
  references: References,
  file: string | undefined,
): FoundFile {
  const { dialect, isOwn, isNamed } = recognize(root, file)
  const issues: ConfigIssue[] = []
  const entries = entriesOf(root, dialect, references, issues)
  if (entries === undefined) issues.push(noServers(root, isNamed && !isOwn))
  const names = validNames((entries ?? []).map(({ given }) => given))
  const isDisabled = disabledBy(root, dialect, references)
  const servers = (entries ?? []).flatMap((entry, index): FoundServer[] => {
    const name = names[index] ?? entry.given
    const server = serverOf(entry, name, dialect, references)
    if (server === undefined || !isObject(server.node) || !isDisabled(entry.given)) {
      return server === undefined ? [] : [server]
    }
    const off = memberOf(booleanNode(server.at, true))
    return [
      { ...server, node: objectNode(server.node.at, [...server.node.members, ['disabled', off]]) },
    ]
  })
  const [misspelled] = entries === undefined ? misspelledServers(root) : []
  const settings = settingsOf(root, dialect, misspelled)
  return { dialect, isOwn, settings, servers, issues }
}

/** An entry of the servers, as it is written. */
interface Entry {
  readonly given: string
  readonly path: ConfigPath
  readonly member: Member
}

/**
 * Returns the entries of all places that hold servers, the first of equal names; undefined if there is no
 * place.
 */
function entriesOf(
  root: ObjectNode,
  dialect: HostDialect,
  references: References,
  issues: ConfigIssue[],
): readonly Entry[] | undefined {
  const places = placesOf(dialect.servers, references).flatMap(path => {
    const node = valueAt(root, path)
    return node === undefined || node.type === 'null' ? [] : [{ path, node }]
  })
  if (places.length === 0) return undefined
  const entries = new Map<string, Entry>()
  for (const { path, node } of places) {
    for (const entry of membersAt(node, path, issues)) {
      const before = entries.get(entry.given)
      if (before === undefined) entries.set(entry.given, entry)
      else {
        const message = `${pathText(entry.path)} is ignored, because ${pathText(before.path)} has the same name`
        issues.push({
          severity: 'warning',
          ...entry.member.at,
          path: pathText(entry.path),
          message,
        })
      }
    }
  }
  return [...entries.values()]
}

/** Returns the servers of an object by name, or of a list whose entries have a `name`. */
function membersAt(node: ConfigNode, path: ConfigPath, issues: ConfigIssue[]): readonly Entry[] {
  if (isObject(node)) {
    return Array.from(node.members, ([given, member]) => ({
      given,
      path: [...path, given],
      member,
    })).filter(({ given, member }) => !isComment(given) || isObject(member.value))
  }
  if (node.type === 'list') {
    return node.items.map((item, index) => {
      const name = isObject(item) ? item.members.get('name')?.value : undefined
      const given = name?.type === 'string' ? name.value : `server_${index + 1}`
      return { given, path: [...path, index], member: memberOf(item) }
    })
  }
  const message = `${pathText(path)} must be an object of objects (got a ${node.type})`
  issues.push({ severity: 'error', ...node.at, path: pathText(path), message })
  return []
}

function serverOf(
  { given, path, member }: Entry,
  name: string,
  dialect: HostDialect,
  references: References,
): FoundServer | undefined {
  const { at, value } = member
  const here = { ...at, path: pathText(path) }
  if (!isObject(value)) return { name, path, at, node: value, issues: [] }
  const builtIn = dialect.builtIn?.find(({ key, values }) => {
    const found = value.members.get(key)?.value
    return found?.type === 'string' && values.includes(found.value)
  })
  // Only its host can run it, so it is not one of our servers.
  if (builtIn !== undefined) return undefined
  const { node, issues } = translateServer(value, path, dialect, references)
  if (name === given) return { name, path, at, node, issues }
  const message = `server ${JSON.stringify(given.slice(0, 80))} is named ${name} here`
  return { name, path, at, node, issues: [{ severity: 'note', ...here, message }, ...issues] }
}

/** Returns whether a server is disabled by a list of names elsewhere in the file. */
function disabledBy(
  root: ObjectNode,
  { only = [], except = [] }: HostDialect,
  references: References,
): (name: string) => boolean {
  const lists = (paths: readonly ConfigPath[]) =>
    placesOf(paths, references)
      .map(path => valueAt(root, path))
      .filter(node => node?.type === 'list')
  const allowed = lists(only)
  const excluded = new Set(lists(except).flatMap(stringsOf))
  const names = new Set(allowed.flatMap(stringsOf))
  return name => excluded.has(name) || (allowed.length > 0 && !names.has(name))
}

/** Replaces the workspace in paths; without one, such paths lead nowhere. */
function placesOf(paths: readonly ConfigPath[], { places }: References): readonly ConfigPath[] {
  return paths
    .flatMap(path => {
      if (!path.includes(workspace)) return [path]
      if (places === undefined) return []
      const folder = places.workspace
      return [folder, folder.replaceAll('\\', '/')].map(name =>
        path.map(step => (step === workspace ? name : step)),
      )
    })
    .filter((path, index, all) => all.findIndex(one => pathText(one) === pathText(path)) === index)
}

function settingsOf(
  root: ObjectNode,
  dialect: HostDialect,
  except: string | undefined,
): ObjectNode {
  if (dialect.settings === false) return objectNode(root.at, [])
  const taken = new Set<string | number | undefined>([except])
  for (const [first] of [...dialect.servers, ...(dialect.inputs ?? [])]) taken.add(first)
  const settings = Array.from(root.members).filter(([key]) => !taken.has(key))
  return objectNode(root.at, settings)
}

/** Returns the key that is probably meant for the servers, and what to write instead. */
function misspelledServers(root: ObjectNode): readonly [key?: string, meant?: string] {
  const known = ['mcpServers', 'servers', 'context_servers', 'mcp_servers']
  for (const key of root.members.keys()) {
    const meant = nearest(key, known)
    if (meant !== undefined) return [key, meant]
  }
  return []
}

function noServers(root: ObjectNode, isHostFile: boolean): ConfigIssue {
  const [key, meant] = misspelledServers(root)
  const at = key === undefined ? undefined : root.members.get(key)?.at
  if (key !== undefined && at !== undefined) {
    const message = `unknown key ${JSON.stringify(key)}; did you mean "${meant}"?`
    return { severity: 'error', ...at, path: pathText([key]), message }
  }
  const message = 'the file has no servers; add mcpServers'
  return { severity: isHostFile ? 'warning' : 'error', ...root.at, path: '', message }
}
