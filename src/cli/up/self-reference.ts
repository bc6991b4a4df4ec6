import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { parseAddress } from '../../address.ts'
import type { UpstreamOptions } from '../../router/options.ts'
import { placeOf, transportOf } from '../../transports.ts'
import { isLoopback } from '../../util/origin.ts'
import { UsageError } from '../exit.ts'
import { configNames } from '../target/config-file.ts'

/** Servers and addresses of a router that is about to start. */
export interface RouterSetup {
  readonly servers: Readonly<Record<string, UpstreamOptions>>
  readonly listen: readonly string[]
  /** The configuration file of the servers. */
  readonly file: string | undefined
}

/**
 * Throws a UsageError if a router is configured as one of its own servers. Its tools would be listed again and
 * again under longer names, or each router would start another one. This happens when the router is added to
 * the configuration file that it reads.
 */
export function checkSelfReference({ servers, listen, file }: RouterSetup): void {
  const own = new Set(listen.flatMap(address => addressKey(address) ?? []))
  for (const [name, server] of Object.entries(servers)) {
    if (server.disabled === true) continue
    const where = file === undefined ? 'the configuration' : file
    const urls = [server.url, ...(server.urls ?? [])].map(url =>
      typeof url === 'object' ? url.url : url,
    )
    for (const url of urls) {
      const key = url === undefined ? undefined : addressKey(url)
      if (key === undefined || !own.has(key)) continue
      throw new UsageError(
        `server "${name}" in ${where} is this router itself, at ${url}: remove it, or listen on another address`,
      )
    }
    if (file !== undefined && startsItself(server, file)) {
      throw new UsageError(
        `server "${name}" in ${file} is a router that reads the same file: remove it, or use another file`,
      )
    }
  }
}

/** Returns a key that equivalent addresses share; undefined if the address has none, such as port 0. */
function addressKey(address: string): string | undefined {
  const where = parseAddress(address)
  const place = placeOf(where)
  if (place === undefined) return undefined
  if (place.type === 'file') return `${where.kind} ${resolve(place.path)}`
  const { host, port, path } = place
  // One listener serves every transport with URLs, such as HTTP and WebSocket.
  const protocol = transportOf(where).locator === 'url' ? 'web' : where.kind
  return port === 0 ? undefined : `${protocol} ${hostOf(host)} ${port} ${path}`
}

function hostOf(hostname: string): string {
  const host = hostname.toLowerCase()
  return host === '' || isLoopback(host) ? 'localhost' : host
}

/** Whether a server command is `trunkline up`. */
export function startsRouter({ command, args = [] }: UpstreamOptions): boolean {
  return command !== undefined && routerAt([command, ...args]) !== -1
}

/** Returns the index of the word `up` in a command line of this program; -1 if it is another one. */
function routerAt(words: readonly string[]): number {
  return words.findIndex((word, index) => word === 'up' && isTrunkline(words[index - 1] ?? ''))
}

/** Whether a server command is `trunkline up` with the same file, named or found in its working folder. */
function startsItself({ command, args = [], cwd = '.' }: UpstreamOptions, file: string): boolean {
  if (command === undefined) return false
  const words = [command, ...args]
  const at = routerAt(words)
  if (at === -1 || words.includes('--demo', at)) return false
  const [operand] = words.slice(at + 1)
  const names = operand === undefined || operand.startsWith('-') ? configNames : [operand]
  const found = names.find(name => existsSync(resolve(cwd, name)))
  return found !== undefined && resolve(cwd, found) === resolve(file)
}

function isTrunkline(word: string): boolean {
  const name = basename(word)
  return /^trunkline(@.*|\.cmd)?$/.test(name) || resolve(word) === resolve(process.argv[1] ?? '')
}
