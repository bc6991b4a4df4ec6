import { isSame } from '../../router/config/diff.ts'
import { type ConfigIssue, pathText } from '../../router/config/issue.ts'
import type { RouterConfig } from '../../router/config/read.ts'
import type { UpstreamOptions } from '../../router/options.ts'
import { startsRouter } from '../up/self-reference.ts'

/**
 * Merges the configurations of several files. Equal servers are served once. A server with the name of another one
 * gets a number. The settings of the router are those of the first file. A server that is a router itself is left
 * out, because it would serve the same servers again.
 */
export function mergeConfigs(configs: readonly [RouterConfig, ...RouterConfig[]]): RouterConfig {
  const [first] = configs
  if (configs.length === 1) return first
  const servers = new Map<string, { options: UpstreamOptions; file: string | undefined }>()
  const shown = new Map(Array.from(first.shown).filter(([path]) => !path.startsWith('servers')))
  const warnings: ConfigIssue[] = []
  const warn = (config: RouterConfig, message: string): void => {
    warnings.push(wholeFile(`${config.file}: ${message}`))
  }
  for (const config of configs) {
    for (const issue of config.warnings) warnings.push(located(issue, config.file))
    for (const [given, options] of Object.entries(config.servers)) {
      if (startsRouter(options)) {
        warn(config, `server ${given} is a router; it is left out`)
        continue
      }
      const isKnown = Array.from(servers.values()).some(
        one => options.configError === undefined && isSame(one.options, options),
      )
      if (isKnown) continue
      const name = freeName(given, servers)
      if (name !== given) {
        const other = servers.get(given)?.file
        warn(config, `server ${given} differs from that of ${other}; it is named ${name} here`)
      }
      servers.set(name, { options, file: config.file })
      moveShown(config.shown, given, name, shown)
    }
  }
  const options = Array.from(servers, ([name, entry]) => [name, entry.options] as const)
  return {
    ...first,
    file: configs.map(({ file }) => file).join(', '),
    servers: Object.fromEntries(options),
    shown,
    warnings,
    notes: configs.flatMap(({ notes, file }) => notes.map(note => located(note, file))),
    missingInputs: configs.flatMap(({ missingInputs }) => missingInputs),
  }
}

/** Copies the displayable strings of a server to its new name. */
function moveShown(
  from: ReadonlyMap<string, string>,
  given: string,
  name: string,
  to: Map<string, string>,
): void {
  const [before, after] = [pathText(['servers', given]), pathText(['servers', name])]
  for (const [path, text] of from) {
    const rest = path.slice(before.length)
    if (path.startsWith(before) && /^[.[]/.test(rest)) to.set(after + rest, text)
  }
}

function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  if (!taken.has(name)) return name
  for (let number = 2; ; number++) if (!taken.has(`${name}_${number}`)) return `${name}_${number}`
}

function wholeFile(message: string): ConfigIssue {
  return { severity: 'warning', line: 0, column: 0, path: '', message }
}

/** An issue of one of several files, whose name is not known where it is printed. */
function located(issue: ConfigIssue, file: string | undefined): ConfigIssue {
  const { line, column, message } = issue
  const place = line === 0 ? '' : `${file}:${line}:${column}: `
  return { ...issue, line: 0, column: 0, message: place + message }
}
