import { ChannelError } from '../../../jsonrpc/channel.ts'
import { isFieldName, isFieldValue } from '../../header-fields.ts'
import type { OutgoingRequest } from './http-client.ts'

/**
 * Serializes an HTTP/1.1 request. Throws a ChannelError `'refused'` for a header that cannot be sent: a
 * line break would begin another header, or another request.
 */
export function writeRequest(request: OutgoingRequest): string | Buffer {
  const { method, url, headers, added, body } = request
  let lines = ''
  let host: string | undefined
  for (const [given, value] of entriesOf(added)) {
    const name = given.toLowerCase()
    if (reserved.has(name)) {
      throw new ChannelError('refused', `the header "${name}" is set by the connection itself`)
    }
    if (name === 'host') host = value
    else if (headers[name] === undefined && name !== 'accept-encoding') lines += field(name, value)
  }
  for (const name in headers) lines += field(name, headers[name])
  // A compressed response could decompress to any size.
  lines += 'accept-encoding: identity\r\n'
  if (body !== undefined) lines += `content-length: ${Buffer.byteLength(body)}\r\n`
  const start = `${method} ${url.pathname}${url.search} HTTP/1.1\r\n${field('host', host ?? url.host)}`
  const head = `${start}${lines}\r\n`
  if (body === undefined) return Buffer.from(head, 'latin1')
  // In UTF-8 these characters would become two bytes each.
  if (beyondAscii.test(head)) return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)])
  return head + body
}

function entriesOf(added: OutgoingRequest['added']): Iterable<readonly [string, string]> {
  // Callers that the compiler has not checked may pass `Headers`, as fetch accepts them.
  return added instanceof Headers ? added : Object.entries(added)
}

function field(name: string, value: unknown): string {
  if (!isFieldName(name)) {
    throw new ChannelError('refused', `${JSON.stringify(name)} is not a valid header name`)
  }
  if (typeof value !== 'string' || !isFieldValue(value)) {
    const why = 'not a string, or contains a line break or other invalid characters'
    throw new ChannelError('refused', `the value of the header "${name}" is ${why}`)
  }
  return `${name}: ${value}\r\n`
}

/** Headers that decide how a request is framed, or what becomes of its connection. */
const reserved: ReadonlySet<string> = new Set([
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
const beyondAscii = /[\x80-\xff]/
