import { readField } from '../field.ts'

/** The head of a request that is written in the usual way. */
export interface RequestHead {
  readonly method: string
  /** The request target as it stood in the request line. */
  readonly target: string
  /** By their names in lower case; none came twice. */
  readonly headers: ReadonlyMap<string, string>
  /** Bytes of the body that follows. */
  readonly bodyBytes: number
}

/**
 * Reads the head of a request, without the empty line at its end. Undefined for whatever is unusual,
 * right or wrong: a header that comes twice, a body in chunks, an upgrade, a spelling that two readers
 * could take for different things. That is left to a reader of everything.
 */
export function readHead(text: string, maxFields: number): RequestHead | undefined {
  const lines = text.split('\r\n')
  const asked = requestLine.exec(lines[0] ?? '')
  if (asked === null || lines.length - 1 > maxFields) return undefined
  const headers = new Map<string, string>()
  for (let at = 1; at < lines.length; at++) {
    const field = readField(lines[at] ?? '')
    if (typeof field === 'string') return undefined
    const { name, value } = field
    if (headers.has(name) || unusual.has(name)) return undefined
    headers.set(name, value)
  }
  const connection = headers.get('connection')
  const length = headers.get('content-length') ?? '0'
  const isPlain =
    headers.has('host') &&
    count.test(length) &&
    (connection === undefined || connection.toLowerCase() === 'keep-alive')
  if (!isPlain) return undefined
  const [, method = '', target = ''] = asked
  return { method, target, headers, bodyBytes: Number(length) }
}

const requestLine = /^(GET|POST|DELETE) (\/[\x21-\x7e]*) HTTP\/1\.1$/
const count = /^\d{1,15}$/

/** What changes how a request is read, or how it is to be answered. */
const unusual: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'expect',
  'upgrade',
  'trailer',
  'te',
  'http2-settings',
  'proxy-connection',
  // Node drops it; in an object it means something else.
  '__proto__',
])
