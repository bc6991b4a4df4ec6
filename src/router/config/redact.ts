import { type ConfigPath, pathText } from './issue.ts'
import type { RouterConfig } from './read.ts'

/** What stands for a secret. */
const mask = '***'

/**
 * A configuration as it may be shown to people and written to logs: a plain object of JSON.
 *
 * Texts from the environment are shown as the file has them, `Bearer ${TOKEN}`. What the file itself
 * holds in `env` and `headers` is not shown, nor are passwords and parameters in addresses, nor
 * arguments of programs that look like secrets. Defaults of references are not shown either.
 */
export function maskedConfig(config: RouterConfig): Record<string, unknown> {
  const { servers, router, listen, public: isPublic, metrics, logLevel } = config
  const all = { ...router, listen, public: isPublic, metrics, logLevel, servers }
  return maskedObject(all, [], config.shown)
}

type Shown = RouterConfig['shown']

function maskedObject(object: object, path: ConfigPath, shown: Shown): Record<string, unknown> {
  const entries = Object.entries(object)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, maskedValue(value, [...path, name], shown)]),
  )
}

function maskedValue(value: unknown, path: ConfigPath, shown: Shown): unknown {
  if (Array.isArray(value)) {
    const isArguments = path.length === 3 && path[2] === 'args'
    return value.map((item, at) => {
      const here = [...path, at]
      if (isArguments && !shown.has(pathText(here))) return maskedArgument(value, at)
      return maskedValue(item, here, shown)
    })
  }
  if (typeof value === 'object' && value !== null) return maskedObject(value, path, shown)
  if (typeof value !== 'string') return value
  const written = shown.get(pathText(path))
  if (isSecretPlace(path)) return written === undefined ? mask : onlyReferences(written)
  return maskedAddress(written ?? value)
}

/** `servers.NAME.env.…` and `servers.NAME.headers.…` */
function isSecretPlace(path: ConfigPath): boolean {
  return path.length === 4 && path[0] === 'servers' && (path[2] === 'env' || path[2] === 'headers')
}

/** What stands around a reference may be half of the secret, unless it names how it is used. */
function onlyReferences(written: string): string {
  return written
    .split(/(?<!\$)(\$\{[^}]*\})/)
    .map((piece, at) => (at % 2 === 1 || piece === '' || scheme.test(piece) ? piece : mask))
    .join('')
}

const scheme = /^(?:Bearer|Basic|Token) $/i

function maskedArgument(args: readonly unknown[], at: number): unknown {
  const argument = String(args[at])
  const [, named] = /^(-[^=]*=)/.exec(argument) ?? []
  if (named !== undefined && secretName.test(named)) return named + mask
  const before = String(args[at - 1] ?? '')
  const isNamed = before.startsWith('-') && !before.includes('=') && secretName.test(before)
  return isNamed && !argument.startsWith('-') ? mask : maskedAddress(argument)
}

const secretName = /key|token|secret|passw|credential|auth/i

/** Who signs in, and the values of parameters: both are where tokens are put. */
function maskedAddress(text: string): string {
  if (!/^[a-z][a-z+.-]*:\/\//i.test(text)) return text
  return text
    .replace(/^([^/]*\/\/)[^/?#@]*@/, `$1${mask}@`)
    .replace(/([?&][^=&#]*=)[^&#]*/g, (whole, start: string) =>
      whole.includes('${') ? whole : start + mask,
    )
}
