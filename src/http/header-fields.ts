/** One parsed header field. */
export interface HeaderField {
  /** In lower case. */
  readonly name: string
  /** Without the whitespace around it. */
  readonly value: string
}

/** Parses one header line. Returns a description of the fault where the line is not a header field. */
export function readField(line: string): HeaderField | string {
  const colon = line.indexOf(':')
  const name = line.slice(0, colon)
  if (colon === -1 || !fieldName.test(name)) return 'a header without a name'
  let start = colon + 1
  let end = line.length
  while (start < end && isBlank(line.charCodeAt(start))) start++
  while (start < end && isBlank(line.charCodeAt(end - 1))) end--
  const value = line.slice(start, end)
  if (notInValue.test(value)) return 'a header with control characters'
  return { name: name.toLowerCase(), value }
}

/** Whether a text is a valid header name. */
export function isFieldName(name: string): boolean {
  return fieldName.test(name)
}

/** Whether a text, one byte per character, is a valid header value: no control characters but tabs. */
export function isFieldValue(value: string): boolean {
  return !notInValue.test(value)
}

const fieldName = /^[\w!#$%&'*+.^`|~-]+$/
const notInValue = /[^\t\x20-\x7e\x80-\xff]/

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/**
 * The header by which a client asks, with `server/discover`, whether the server accepts WebSockets at
 * the same address, and by which the server confirms it. It is never sent unasked, so that no other
 * implementation ever sees it.
 */
export const wireHeader = 'trunkline-wire'

/** The value of the header `trunkline-wire`, in both directions. */
export const webSocketWire = 'websocket'

/**
 * The header by which a server that closes an idle connection says what became of a request that was on its
 * way.
 */
export const requestHeader = 'trunkline-request'

/** The value of the header `trunkline-request`: the request was not read. */
export const notBegun = 'not-begun'
