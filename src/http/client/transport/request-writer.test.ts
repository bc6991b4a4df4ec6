import { describe, expect, test } from 'vitest'
import { AbortHandle, type OutgoingRequest } from './http-client.ts'
import { writeRequest } from './request-writer.ts'

function written(given: Partial<OutgoingRequest>): string {
  const url = new URL('http://localhost:81/a/b?c=d')
  const request = {
    method: 'POST',
    url,
    headers: {},
    added: {},
    handle: new AbortHandle(),
    ...given,
  } as const
  const text = writeRequest(request)
  return typeof text === 'string' ? text : text.toString('latin1')
}

describe('a request', () => {
  test('is written with everything it needs', () => {
    const text = written({ headers: { accept: 'x' }, added: { 'X-Own': '1' }, body: '{"ü":1}' })
    expect(text).toBe(
      'POST /a/b?c=d HTTP/1.1\r\nhost: localhost:81\r\nx-own: 1\r\naccept: x\r\n' +
        'accept-encoding: identity\r\ncontent-length: 8\r\n\r\n{"ü":1}',
    )
  })

  test('without a body has no length', () => {
    expect(written({ method: 'GET' })).toBe(
      'GET /a/b?c=d HTTP/1.1\r\nhost: localhost:81\r\naccept-encoding: identity\r\n\r\n',
    )
  })

  test('has the headers of the protocol rather than the caller’s', () => {
    const text = written({ headers: { accept: 'reserved' }, added: { Accept: 'theirs' } })
    expect(text).toContain('accept: reserved')
    expect(text).not.toContain('theirs')
  })

  test('never asks for a compressed response', () => {
    expect(written({ added: { 'Accept-Encoding': 'gzip' } })).not.toContain('gzip')
  })

  test('may name another host', () => {
    const text = written({ added: { Host: 'example.test' } })
    expect(text).toContain('\r\nhost: example.test\r\n')
    expect(text).not.toContain('localhost')
  })

  test('accepts headers as fetch does', () => {
    const added = new Headers({ 'X-Own': '1' })
    expect(written({ added: added as unknown as OutgoingRequest['added'] })).toContain(
      'x-own: 1\r\n',
    )
  })

  test('writes characters of a header as one byte each, and those of a body in UTF-8', () => {
    const bytes = writeRequest({
      method: 'POST',
      url: new URL('http://localhost/'),
      headers: { x: '\xfc' },
      added: {},
      body: 'ü',
      handle: new AbortHandle(),
    })
    expect(Buffer.isBuffer(bytes) && bytes.toString('latin1')).toMatch(/x: \xfc\r\n.*\xc3\xbc$/s)
  })

  test.each([
    ['a endpoint break', { x: 'a\r\nb: c' }],
    ['a endpoint feed', { x: 'a\nb' }],
    ['a zero byte', { x: 'a\0b' }],
    ['a character no header carries', { x: '€' }],
    ['a name with a space', { 'a b': 'x' }],
    ['a name with a endpoint break', { 'a\r\nb': 'x' }],
    ['no name', { '': 'x' }],
    ['no text', { x: 1 as unknown as string }],
    ['a length', { 'Content-Length': '1' }],
    ['an encoding of the transfer', { 'transfer-encoding': 'chunked' }],
    ['what becomes of the connection', { connection: 'close' }],
    ['a host of two lines', { host: 'a\r\nb: c' }],
  ])('with a header of %s is rejected', (_, added) => {
    const refused = expect.objectContaining({ code: 'refused' })
    expect(() => written({ added })).toThrow(refused)
  })
})
