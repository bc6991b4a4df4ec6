import { type ConfigPath, pathText } from './issue.ts'
import type { RouterConfig } from './read.ts'

/** The replacement for a secret. */
const mask = '***'

/**
 * Returns a configuration without secrets, as a plain JSON object for display and logs.
 *
 * Strings with environment variables appear with the references, `Bearer ${TOKEN}`. Literal values in
 * `env` and `headers`, passwords and query parameters in addresses, command arguments that look like
 * secrets, and defaults of references are masked.
 */
export function redactedConfig(config: RouterConfig): Record<string, unknown> {
  const {
    servers,
    router,
    listen,
    viewAddresses,
    tls,
    auth,
    policy,
    audit,
    vault,
    public: isPublic,
    metrics,
    console: itsConsole,
    logLevel,
  } = config
  const all = {
    ...router,
    listen,
    ...(router.views && { viewAddresses }),
    ...(tls && { tls }),
    ...(auth && { auth }),
    ...(policy && { policy }),
    ...(audit && { audit }),
    ...(vault && { vault }),
    public: isPublic,
    metrics,
    ...(itsConsole !== undefined && { console: itsConsole }),
    logLevel,
    servers,
  }
  return redactedObject(all, [], config.shown)
}

type Shown = RouterConfig['shown']

function redactedObject(object: object, path: ConfigPath, shown: Shown): Record<string, unknown> {
  const entries = Object.entries(object)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, redactedValue(value, [...path, name], shown)]),
  )
}

function redactedValue(value: unknown, path: ConfigPath, shown: Shown): unknown {
  if (Array.isArray(value)) {
    const isArguments = path.length === 3 && path[2] === 'args'
    return value.map((item, at) => {
      const here = [...path, at]
      if (isArguments && !shown.has(pathText(here))) return redactedArgument(value, at)
      return redactedValue(item, here, shown)
    })
  }
  if (typeof value === 'object' && value !== null) return redactedObject(value, path, shown)
  if (typeof value !== 'string') return value
  const written = shown.get(pathText(path))
  if (isSecretPlace(path)) return written === undefined ? mask : onlyReferences(written)
  return redactedAddress(written ?? value)
}

/** Whether the path is `servers.NAME.env.…` or `servers.NAME.headers.…`, or that of a secret of `auth`. */
function isSecretPlace(path: ConfigPath): boolean {
  if (path.includes('auth') && secretFields.has(path.at(-1))) return true
  return path.length === 4 && path[0] === 'servers' && (path[2] === 'env' || path[2] === 'headers')
}

const secretFields: ReadonlySet<unknown> = new Set(['clientSecret', 'bearer'])

/** Masks the text around references, which may be part of the secret, except authentication schemes. */
function onlyReferences(written: string): string {
  return written
    .split(/(?<!\$)(\$\{[^}]*\})/)
    .map((piece, at) => (at % 2 === 1 || piece === '' || scheme.test(piece) ? piece : mask))
    .join('')
}

const scheme = /^(?:Bearer|Basic|Token) $/i

function redactedArgument(args: readonly unknown[], at: number): unknown {
  const argument = String(args[at])
  const [, named] = /^(-[^=]*=)/.exec(argument) ?? []
  if (named !== undefined && secretName.test(named)) return named + mask
  const before = String(args[at - 1] ?? '')
  const isNamed = before.startsWith('-') && !before.includes('=') && secretName.test(before)
  return isNamed && !argument.startsWith('-') ? mask : redactedAddress(argument)
}

const secretName = /key|token|secret|passw|credential|auth/i

/** Masks the credentials and the query parameters of an address, since either may contain a token. */
function redactedAddress(text: string): string {
  if (!/^[a-z][a-z+.-]*:\/\//i.test(text)) return text
  return text
    .replace(/^([^/]*\/\/)[^/?#@]*@/, `$1${mask}@`)
    .replace(/([?&][^=&#]*=)[^&#]*/g, (whole, start: string) =>
      whole.includes('${') ? whole : start + mask,
    )
}
