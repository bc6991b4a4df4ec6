import type { Message, Reason } from '../../src/jsonrpc/message.ts'

/**
 * The response to one message. `id` and `result` are raw JSON, so that numbers are compared digit by
 * digit.
 */
export interface Reply {
  readonly id: string
  readonly code?: number
  readonly result?: string
}

/** One invalid or unusual input and its expected result on every transport. */
export interface HostileInput {
  readonly name: string
  readonly input: string | Uint8Array
  /** The result of `decode`: a message type, or the reason for its rejection. */
  readonly found: Message['type'] | 'batch' | Reason
  /** The server's response: one reply, a batch of them, or nothing. */
  readonly reply: Reply | readonly Reply[] | undefined
}

/**
 * The server under test has the methods `ping`, which returns "pong", and `echo`, which returns its
 * params.
 */
export const PONG = '"pong"'

export function served(name: string, input: string, id: string, result = PONG): HostileInput {
  return { name, input, found: 'request', reply: { id, result } }
}

export function unknownMethod(name: string, input: string): HostileInput {
  return { name, input, found: 'request', reply: { id: '1', code: -32601 } }
}

export function noJson(name: string, input: string | Uint8Array): HostileInput {
  return { name, input, found: 'json', reply: { id: 'null', code: -32700 } }
}

export function noUtf8(name: string, input: Uint8Array): HostileInput {
  return { name, input, found: 'encoding', reply: { id: 'null', code: -32700 } }
}

export function refused(name: string, input: string, found: Reason, id = 'null'): HostileInput {
  return { name, input, found, reply: { id, code: -32600 } }
}

export function silent(name: string, input: string, found: HostileInput['found']): HostileInput {
  return { name, input, found, reply: undefined }
}

export function batch(name: string, input: string, ...reply: readonly Reply[]): HostileInput {
  return { name, input, found: 'batch', reply: reply.length === 0 ? undefined : reply }
}

export const ping = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`
export const echo = (params: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"echo","params":${params}}`
export const method = (name: string) => `{"jsonrpc":"2.0","id":1,"method":${name}}`

/** A text with raw bytes in it, each written as two hexadecimal digits between angle brackets. */
export function raw(text: string): Uint8Array {
  const parts = text.split(/<([0-9a-f ]+)>/)
  return Buffer.concat(
    parts.map((part, i) => Buffer.from(part.replaceAll(' ', ''), i % 2 === 0 ? 'utf8' : 'hex')),
  )
}

export function utf32(text: string, isLittle: boolean): Uint8Array {
  const bytes = Buffer.alloc(text.length * 4)
  for (let i = 0; i < text.length; i++) {
    if (isLittle) bytes.writeUInt32LE(text.charCodeAt(i), i * 4)
    else bytes.writeUInt32BE(text.charCodeAt(i), i * 4)
  }
  return bytes
}

export const utf16 = Buffer.from(ping('1'), 'utf16le')
export const utf16Swapped = Buffer.from(utf16).swap16()
