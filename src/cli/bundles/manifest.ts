import { delimiter, join } from 'node:path'
import { type Environment, inputVariable } from '../../router/config/env.ts'
import { isRecord } from '../../util/objects.ts'

/** Where a bundle is, and on which system it runs. */
export interface BundleContext {
  /** The folder of its files. */
  readonly folder: string
  readonly home: string
  readonly platform: NodeJS.Platform
  readonly env: Environment
}

/**
 * Returns the configuration of the server of a bundle, as the value of a configuration file. What the user has to
 * provide (`user_config`) becomes inputs. Throws an Error whose message is the reason for an unusable manifest.
 */
export function configOfManifest(manifest: unknown, context: BundleContext): object {
  const { name, server, compatibility, user_config: wanted } = recordOf(manifest, 'manifest.json')
  if (typeof name !== 'string') throw new Error('manifest.json has no name')
  const platforms = isRecord(compatibility) ? compatibility.platforms : undefined
  if (Array.isArray(platforms) && !platforms.includes(context.platform)) {
    throw new Error(`the bundle is for ${platforms.join(', ')}, and this is ${context.platform}`)
  }
  const settings = new Map(Object.entries(isRecord(wanted) ? wanted : {}))
  const config = mcpConfigOf(recordOf(server, 'server in manifest.json'), context.platform)
  const text = (value: unknown): string => withPlaces(String(value), context)
  const args = Array.isArray(config.args) ? config.args : []
  const env = Object.entries(isRecord(config.env) ? config.env : {})
  return {
    inputs: Array.from(settings, ([id, setting]) => inputOf(id, setting, context)),
    mcpServers: {
      [name]: {
        command: text(config.command ?? ''),
        args: args.flatMap(arg => severalOf(String(arg), settings, context) ?? [text(arg)]),
        env: Object.fromEntries(env.map(([key, value]) => [key, text(value)])),
      },
    },
  }
}

/** Returns how the server is started on a platform; by default as its type implies. */
function mcpConfigOf(
  server: Record<string, unknown>,
  platform: NodeJS.Platform,
): Record<string, unknown> {
  const { type, entry_point: entry, mcp_config: config } = server
  if (!isRecord(config)) {
    const file = `\${__dirname}/${String(entry ?? '')}`
    if (type === 'node') return { command: 'node', args: [file] }
    if (type === 'python') return { command: 'python3', args: [file] }
    if (type === 'uv') return { command: 'uv', args: ['run', '--directory', `\${__dirname}`, file] }
    return { command: file }
  }
  const { platform_overrides: overrides, ...usual } = config
  const special = isRecord(overrides) ? overrides[platform] : undefined
  if (!isRecord(special)) return usual
  const bothEnv = { ...recordOrEmpty(usual.env), ...recordOrEmpty(special.env) }
  return { ...usual, ...special, env: bothEnv }
}

/** Converts a setting to an input. One that is not required is empty by default. */
function inputOf(id: string, given: unknown, context: BundleContext): object {
  const setting = recordOrEmpty(given)
  const { title, description, sensitive, required, default: preset } = setting
  const usual = preset ?? (required === true ? undefined : '')
  return {
    id,
    description: String(title ?? description ?? id),
    password: sensitive === true,
    ...(usual !== undefined && { default: literal([usual].flat().join(delimiter), context) }),
  }
}

/** Returns the arguments for a setting with several values; undefined for any other argument. */
function severalOf(
  arg: string,
  settings: ReadonlyMap<string, unknown>,
  context: BundleContext,
): readonly string[] | undefined {
  const [, id = ''] = /^\$\{user_config\.([^}]+)\}$/.exec(arg) ?? []
  const { multiple, default: preset } = recordOrEmpty(settings.get(id))
  if (multiple !== true) return undefined
  const answer = context.env[inputVariable(id)]
  const values = answer === undefined ? [preset ?? []].flat() : answer.split(delimiter)
  const known = values.map(value => escaped(literal(String(value), context)))
  return known.length > 0 || answer !== undefined ? known : undefined
}

/** Replaces the references of bundles by values, and by references of ours. */
function withPlaces(text: string, context: BundleContext): string {
  return text
    .replace(/\$\{(\w+)\}/g, (whole, name: string) => {
      const place = placeNamed(name, context)
      return place === undefined ? whole : escaped(place)
    })
    .replace(/\$\{user_config\.([^}]+)\}/g, `\${input:$1}`)
}

/** Replaces the names of folders in a default, which is not expanded any further. */
function literal(text: string, context: BundleContext): string {
  return text.replace(/\$\{(\w+)\}/g, (whole, name: string) => placeNamed(name, context) ?? whole)
}

function placeNamed(name: string, { folder, home }: BundleContext): string | undefined {
  switch (name) {
    case '__dirname':
      return folder
    case 'HOME':
      return home
    case 'DESKTOP':
      return join(home, 'Desktop')
    case 'DOCUMENTS':
      return join(home, 'Documents')
    case 'DOWNLOADS':
      return join(home, 'Downloads')
    default:
      return undefined
  }
}

function escaped(text: string): string {
  return text.replaceAll('${', () => '$${')
}

function recordOrEmpty(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

function recordOf(value: unknown, what: string): Record<string, unknown> {
  if (isRecord(value)) return value
  throw new Error(`${what} must be an object`)
}
