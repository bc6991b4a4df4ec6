/** The environment variables of a program. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Where a program is asked to serve, as addresses that `listen` takes: by its arguments, else by its
 * environment, else on its standard input and output.
 *
 * Arguments that are not about serving are the program's own business. Throws a TypeError that names
 * an argument or a variable that cannot be read.
 */
export function addressesOf(argv: readonly string[], env: Environment): readonly string[] {
  const host = nonEmpty(env.MCP_HOST) ?? '127.0.0.1'
  const wanted = fromArguments(argv, { host, env })
  if (wanted.length > 0) return wanted
  const transport = nonEmpty(env.MCP_TRANSPORT)?.toLowerCase() ?? 'stdio'
  const make = transports.get(transport)
  if (make === undefined) {
    const names = [...transports.keys()].join(', ')
    throw new TypeError(`MCP_TRANSPORT is one of ${names}, not "${transport}"`)
  }
  return [make(undefined, { host, env })]
}

/** What addresses are made of when an argument does not say it. */
interface Surroundings {
  readonly host: string
  readonly env: Environment
}

type Make = (value: string | undefined, surroundings: Surroundings) => string

const transports: ReadonlyMap<string, Make> = new Map<string, Make>([
  ['stdio', () => 'stdio:'],
  ['tcp', (value, around) => `tcp://${authority('--tcp', value, around)}`],
  ['unix', (value, around) => `unix:${path('--unix', value, around)}`],
  ['pipe', (value, around) => `pipe:${path('--pipe', value, around)}`],
  ['ws', (value, around) => `ws://${authority('--ws', value, around)}${urlPath(around)}`],
  ['http', (value, around) => `http://${authority('--http', value, around)}${urlPath(around)}`],
])

function fromArguments(argv: readonly string[], surroundings: Surroundings): string[] {
  const wanted: string[] = []
  for (let i = 0; i < argv.length; i++) {
    const [, name = '', inline] = /^--([a-z]+)(?:=(.*))?$/s.exec(argv[i] ?? '') ?? []
    const make = transports.get(name)
    if (make === undefined) continue
    const next = argv[i + 1]
    const takesNext = name !== 'stdio' && inline === undefined && next?.startsWith('-') === false
    wanted.push(make(takesNext ? next : inline, surroundings))
    if (takesNext) i++
  }
  return wanted
}

/** `3000`, `host:3000`, or nothing where the environment knows a port. */
function authority(flag: string, value: string | undefined, { host, env }: Surroundings): string {
  const wanted = value ?? nonEmpty(env.MCP_PORT) ?? nonEmpty(env.PORT)
  if (wanted === undefined) {
    throw new TypeError(`${flag} needs a port: "${flag} 3000", or MCP_PORT in the environment`)
  }
  const [, name, port] = /^(?:(\[[^\]]+\]|[^\s:/]+):)?(\d{1,5})$/.exec(wanted) ?? []
  if (port !== undefined && Number(port) <= 65535) return `${name ?? bracketed(host)}:${port}`
  throw new TypeError(`${flag} takes a port, or a host and a port, not "${wanted}"`)
}

function path(flag: string, value: string | undefined, { env }: Surroundings): string {
  const wanted = value ?? nonEmpty(env.MCP_PATH)
  if (wanted === undefined)
    throw new TypeError(`${flag} needs a path, or MCP_PATH in the environment`)
  return wanted
}

function urlPath({ env }: Surroundings): string {
  const wanted = nonEmpty(env.MCP_PATH) ?? '/mcp'
  return wanted.startsWith('/') ? wanted : `/${wanted}`
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/** Variables that are set to nothing count as not set, as shells and compose files leave them. */
function nonEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}
