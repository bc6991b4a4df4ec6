import { readField } from '../header-fields.ts'

/** The parsed head of a request on the fast path. */
export interface RequestHead {
  readonly method: string
  /** The request target as it is in the request line. */
  readonly target: string
  /** By their names in lower case. No name occurs twice. */
  readonly headers: ReadonlyMap<string, string>
  /** Bytes of the body that follows. */
  readonly bodyBytes: number
}

/**
 * Parses the head of a request, without the empty line at its end. Returns undefined for everything
 * uncommon, valid or not: a header that occurs twice, a chunked body, an upgrade, a spelling that two
 * parsers could read differently. `node:http` parses those.
 */
export function readHead(text: string, maxFields: number): RequestHead | undefined {
  const lines = text.split('\r\n')
  const match = requestLine.exec(lines[0] ?? '')
  if (match === null || lines.length - 1 > maxFields) return undefined
  const headers = new Map<string, string>()
  for (let at = 1; at < lines.length; at++) {
    const field = readField(lines[at] ?? '')
    if (typeof field === 'string') return undefined
    const { name, value } = field
    if (headers.has(name) || uncommon.has(name)) return undefined
    // Node rejects a tab after the number.
    if (name === 'content-length' && lines[at]?.includes('\t')) return undefined
    headers.set(name, value)
  }
  const connection = headers.get('connection')
  const length = headers.get('content-length') ?? '0'
  const isPlain =
    headers.has('host') &&
    count.test(length) &&
    (connection === undefined || connection.toLowerCase() === 'keep-alive')
  if (!isPlain) return undefined
  const [, method = '', target = ''] = match
  return { method, target, headers, bodyBytes: Number(length) }
}

const requestLine = /^(GET|POST|DELETE) (\/[\x21-\x7e]*) HTTP\/1\.1$/
const count = /^\d{1,15}$/

/** Headers that change how a request is parsed or answered. */
const uncommon: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'expect',
  'upgrade',
  'trailer',
  'te',
  'http2-settings',
  'proxy-connection',
  // Node drops it, and as a key of an object it sets the prototype.
  '__proto__',
])
