import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { parseAddress } from '../../address.ts'
import type { UpstreamOptions } from '../../router/options.ts'
import { isLoopback } from '../../util/origin.ts'
import { UsageError } from '../exit.ts'
import { configNames } from '../target/config-file.ts'

/** What a router is about to do. */
export interface Intent {
  readonly servers: Readonly<Record<string, UpstreamOptions>>
  readonly listen: readonly string[]
  /** The file that the servers come from. */
  readonly file: string | undefined
}

/**
 * Throws a UsageError where a router would be behind itself: each of its tools would be there again under
 * a longer name, without end, or each router would start another one. It happens to whoever writes the
 * router into the file that the router reads.
 */
export function checkLoops({ servers, listen, file }: Intent): void {
  const own = new Set(listen.flatMap(address => placeOf(address) ?? []))
  for (const [name, server] of Object.entries(servers)) {
    if (server.disabled === true) continue
    const where = file === undefined ? 'the configuration' : file
    const urls = [server.url, ...(server.urls ?? [])].map(url =>
      typeof url === 'object' ? url.url : url,
    )
    for (const url of urls) {
      const place = url === undefined ? undefined : placeOf(url)
      if (place === undefined || !own.has(place)) continue
      throw new UsageError(
        `the server "${name}" in ${where} is this router itself, at ${url}: take it out, or listen elsewhere`,
      )
    }
    if (file !== undefined && startsItself(server, file)) {
      throw new UsageError(
        `the server "${name}" in ${file} is a router that reads the same file: take it out, or name another file`,
      )
    }
  }
}

/** What two addresses have in common that lead to the same place; undefined where that cannot be told. */
function placeOf(address: string): string | undefined {
  const where = parseAddress(address)
  switch (where.kind) {
    case 'tcp':
      return where.port === 0 ? undefined : `tcp ${hostOf(where.host)} ${where.port}`
    case 'unix':
    case 'pipe':
      return `${where.kind} ${resolve(where.path)}`
    case 'http':
    case 'websocket': {
      // One address takes both.
      const { hostname, port, pathname, protocol } = where.url
      const isSecure = protocol === 'https:' || protocol === 'wss:'
      if (port === '0') return undefined
      return `web ${hostOf(hostname)} ${port || (isSecure ? 443 : 80)} ${pathname}`
    }
    default:
      return undefined
  }
}

function hostOf(hostname: string): string {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  return host === '' || isLoopback(host) ? 'localhost' : host
}

/** Whether a program is `trunkline up` with the same file: named, or found where it is started. */
function startsItself({ command, args = [], cwd = '.' }: UpstreamOptions, file: string): boolean {
  if (command === undefined) return false
  const words = [command, ...args]
  const at = words.findIndex((word, index) => word === 'up' && isTrunkline(words[index - 1] ?? ''))
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
