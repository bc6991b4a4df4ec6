import { describe, expect, test } from 'vitest'
import { decode } from '../jsonrpc/codec/decode.ts'
import { withMaxBytes } from '../jsonrpc/codec/decode-rules.ts'
import { errors } from './errors/constructors.ts'
import { peerOptions } from './errors/wire.ts'
import { decodeOptions, type ProfileName, profile, profiles } from './profile.ts'

describe('a profile', () => {
  test('is mcp by default', () => {
    expect(profile()).toBe(profiles.mcp)
    expect(profile('erlmcp')).toBe(profiles.erlmcp)
  })

  test('can be changed in any field, and changed again', () => {
    const changed = profile('erlmcp', { strictErrorCodes: false })
    expect(changed).toEqual({ ...profiles.erlmcp, strictErrorCodes: false })
    expect(profile(changed)).toBe(changed)
    expect(profile(changed, { nullIds: true })).toEqual({ ...changed, nullIds: true })
    expect(profiles.erlmcp.strictErrorCodes).toBe(true)
  })

  test('is not changed by an option that is undefined', () => {
    expect(profile('jsonrpc', { nullIds: undefined })).toEqual(profiles.jsonrpc)
  })

  test('chooses the sizes of messages by transport', () => {
    const MiB = 1024 * 1024
    expect(decodeOptions(profile('erlmcp')).sizes).toEqual({})
    const changed = decodeOptions(profile('erlmcp', { sizes: 'erlmcp-003' }))
    expect(changed.sizes).toEqual({ stdio: 16 * MiB, socket: 64 * MiB, http: 100 * MiB })
    expect(withMaxBytes(changed, 'stdio', 5).maxBytes).toBe(16 * MiB)
    expect(withMaxBytes(changed, 'websocket', 5).maxBytes).toBe(5)
    expect(withMaxBytes({ ...changed, maxBytes: 7 }, 'stdio', 5).maxBytes).toBe(7)
    const older = decodeOptions(profile('erlmcp', { sizes: 'erlmcp-000' }))
    expect(withMaxBytes(older, 'socket', 5).maxBytes).toBe(100 * MiB)
    const wrong = { sizes: 'erlmcp-004' } as never
    expect(() => profile('erlmcp', wrong)).toThrow(/erlmcp-000, erlmcp-003/)
  })

  test('has the name of its key', () => {
    for (const [name, preset] of Object.entries(profiles)) expect(preset.name).toBe(name)
  })
})

describe('decoding with a profile', () => {
  const many = JSON.stringify(Array.from({ length: 101 }, () => ({ jsonrpc: '2.0', method: 'm' })))

  /** The type of what is read, or the code of the refusal. */
  function read(name: ProfileName, text: string): string | number {
    const decoded = decode(text, decodeOptions(profile(name)))
    return decoded.type === 'invalid' ? decoded.error.code : decoded.type
  }

  test.each([
    {
      name: 'the id null',
      text: '{"jsonrpc":"2.0","id":null,"method":"m"}',
      mcp: -32600,
      erlmcp: -32600,
      jsonrpc: 'request',
    },
    {
      name: 'params null',
      text: '{"jsonrpc":"2.0","id":1,"method":"m","params":null}',
      mcp: -32600,
      erlmcp: 'request',
      jsonrpc: -32600,
    },
    {
      name: 'a fraction as id',
      text: '{"jsonrpc":"2.0","id":1.5,"method":"m"}',
      mcp: -32600,
      erlmcp: -32600,
      jsonrpc: -32600,
    },
    { name: 'a batch too large', text: many, mcp: -32600, erlmcp: -32069, jsonrpc: -32600 },
    {
      name: 'an error for an unknown id',
      text: '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
      mcp: 'error',
      erlmcp: 'error',
      jsonrpc: 'error',
    },
  ])('decides about $name', ({ text, mcp, erlmcp, jsonrpc }) => {
    expect(read('mcp', text)).toBe(mcp)
    expect(read('erlmcp', text)).toBe(erlmcp)
    expect(read('jsonrpc', text)).toBe(jsonrpc)
  })

  test('rejects a message that is too large with the code of the profile', () => {
    for (const name of ['mcp', 'erlmcp', 'jsonrpc'] as const) {
      const options = { ...decodeOptions(profile(name)), maxBytes: 3 }
      expect(decode('{"jsonrpc":"2.0"}', options)).toMatchObject({ error: { code: -32012 } })
    }
  })
})

describe('a peer with a profile', () => {
  test.each([
    { name: 'mcp', revision: true, taken: true },
    { name: 'mcp', revision: false, taken: false },
    { name: 'mcp', revision: undefined, taken: false },
    { name: 'erlmcp', revision: false, taken: true },
    { name: 'jsonrpc', revision: undefined, taken: true },
  ] as const)('takes batches in $name: $taken where the revision says $revision', row => {
    const revision =
      row.revision === undefined ? undefined : ({ era: 'session', batches: row.revision } as const)
    expect(peerOptions(profile(row.name), revision).batches).toBe(row.taken)
  })

  test('never accepts batches if the profile says so', () => {
    expect(peerOptions(profile('jsonrpc', { batches: 'never' })).batches).toBe(false)
  })

  test('gives errors the codes of the profile and revision', () => {
    const error = errors.resourceNotFound({ uri: 'x:y' })
    const code = (name: ProfileName, era: 'session' | 'stateless') =>
      peerOptions(profile(name), { era, batches: false }).toWire?.(error).code
    expect(code('mcp', 'session')).toBe(-32002)
    expect(code('mcp', 'stateless')).toBe(-32602)
    expect(code('erlmcp', 'session')).toBe(-32001)
  })
})
