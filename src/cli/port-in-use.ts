import { createServer } from 'node:net'
import { parseAddress } from '../address.ts'
import { type Place, placeOf } from '../transports.ts'

/**
 * Returns what to do about an address that is in use: the command of the user with the next free port. Returns other
 * advice if the address has no port, or no port is free near it.
 */
export async function inUseHint(
  message: string,
  argv: readonly string[],
  program: string,
): Promise<string> {
  const other = 'stop the other program, or choose another address'
  const [, address = ''] = /listening on (\S+): already in use/.exec(message) ?? []
  const place = networkPlaceOf(address)
  if (place === undefined) return other
  const port = await nextFreePort(place)
  if (port === undefined) return other
  const words = withPort(argv, address, place.port, port).map(quoted)
  return `stop the other program, or use another port: ${program} ${words.join(' ')}`
}

type NetworkPlace = Extract<Place, { readonly type: 'network' }>

function networkPlaceOf(address: string): NetworkPlace | undefined {
  try {
    const place = placeOf(parseAddress(address))
    return place?.type === 'network' ? place : undefined
  } catch {
    return undefined
  }
}

/** The number of ports to try. */
const maxPorts = 20

async function nextFreePort({ host, port }: NetworkPlace): Promise<number | undefined> {
  for (let next = port + 1; next <= Math.min(port + maxPorts, 65_535); next++) {
    if (await isFree(host, next)) return next
  }
  return undefined
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, host, () => server.close(() => resolve(true)))
  })
}

/** Replaces the port where the command line names it, or adds the whole address. */
function withPort(
  argv: readonly string[],
  address: string,
  from: number,
  to: number,
): readonly string[] {
  const pattern = new RegExp(`(^|:|=)${from}(?=/|$)`)
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  const at = argv.findIndex((arg, index) => index < end && pattern.test(arg))
  if (at !== -1) return argv.with(at, (argv[at] ?? '').replace(pattern, `$1${to}`))
  const more = argv[0] === 'up' ? ['--listen'] : []
  const changed = address.replace(`:${from}`, `:${to}`)
  return [...argv.slice(0, end), ...more, changed, ...argv.slice(end)]
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
