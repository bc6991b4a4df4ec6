import { ChannelError } from '../../../jsonrpc/channel.ts'
import type { Carried } from './http-client.ts'

/**
 * A request of HTTP/1.1 as it is written. Throws a ChannelError `'refused'` for a header that cannot be
 * sent: a line break in one would begin another, or another request.
 */
export function requestOf(request: Carried): string | Buffer {
  const { method, url, headers, added, body } = request
  let lines = ''
  let host: string | undefined
  for (const [given, value] of entriesOf(added)) {
    const name = given.toLowerCase()
    if (ours.has(name)) {
      throw new ChannelError('refused', `the header "${name}" is made by the connection itself`)
    }
    if (name === 'host') host = value
    else if (headers[name] === undefined && name !== 'accept-encoding') lines += field(name, value)
  }
  for (const name in headers) lines += field(name, headers[name])
  // An answer that is packed could be of any size once it is not.
  lines += 'accept-encoding: identity\r\n'
  if (body !== undefined) lines += `content-length: ${Buffer.byteLength(body)}\r\n`
  const start = `${method} ${url.pathname}${url.search} HTTP/1.1\r\n${field('host', host ?? url.host)}`
  const head = `${start}${lines}\r\n`
  if (body === undefined) return Buffer.from(head, 'latin1')
  // In UTF-8 they would become two bytes each.
  if (beyondAscii.test(head)) return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)])
  return head + body
}

function entriesOf(added: Carried['added']): Iterable<readonly [string, string]> {
  // Callers the compiler never saw give a Headers, as fetch would take it.
  return added instanceof Headers ? added : Object.entries(added)
}

function field(name: string, value: unknown): string {
  if (!fieldName.test(name)) {
    throw new ChannelError('refused', `${JSON.stringify(name)} cannot be the name of a header`)
  }
  if (typeof value !== 'string' || badValue.test(value)) {
    const why = 'no text, or holds a line break or characters that no header carries'
    throw new ChannelError('refused', `the value of the header "${name}" is ${why}`)
  }
  return `${name}: ${value}\r\n`
}

/** What says how a request is framed, and what becomes of its connection. */
const ours: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const fieldName = /^[\w!#$%&'*+.^`|~-]+$/
const badValue = /[^\t\x20-\x7e\x80-\xff]/
const beyondAscii = /[\x80-\xff]/
