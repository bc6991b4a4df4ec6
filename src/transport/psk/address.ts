import { authority } from '../listener.ts'
import type { SocketTarget } from '../socket/socket.ts'

/** Parses `tcp://host:port` or `unix:path`. Throws a TypeError that names the address and the forms. */
export function parsePskAddress(text: string): SocketTarget {
  const path = /^unix:(?:\/\/(?=\/))?([^\0]+)$/.exec(text)?.[1]
  if (path !== undefined && !path.startsWith('//')) return { path }
  const [, bracketed, name, digits] =
    /^tcp:\/\/(?:\[([^\]]+)\]|([^:/?#@[\]\s]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? name
  if (host !== undefined && Number(digits) <= 65_535) {
    return { host: host === 'localhost' ? '127.0.0.1' : host, port: Number(digits) }
  }
  throw new TypeError(
    `cannot read the address "${text}"; the forms are tcp://host:port and unix:path`,
  )
}

/** Returns the address of a host and a port. */
export function tcpAddress(host: string, port: number): string {
  return `tcp://${authority(host, port)}`
}
