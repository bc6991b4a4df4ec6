import { afterEach, describe, expect, it } from 'vitest'
import { connect } from '../../connect.ts'
import { Server } from '../../server/server.ts'
import { keysVariable, parseKeys } from './key-text.ts'

const hex = (digit: string) => digit.repeat(64)

describe('parseKeys', () => {
  it('reads hexadecimal and base64 of both alphabets, with comments', () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, at) => 255 - at)
    const base64 = Buffer.from(bytes).toString('base64')
    const base64url = Buffer.from(bytes).toString('base64url')
    const text = `# newest first\n${Buffer.from(bytes).toString('hex')} # 2026\n${base64},${base64url}\n`
    expect(parseKeys(text)).toEqual([bytes, bytes, bytes])
  })

  it.each(['', '# none', 'abcd', `${hex('a')}, short`, '§'.repeat(50)])('refuses %j', text => {
    expect(() => parseKeys(text)).toThrow(TypeError)
  })

  it('never shows a key in an error', () => {
    expect(() => parseKeys(`${hex('a')} c3VwZXItc2VjcmV0`)).toThrow(/^key 2 of 2 is not/)
  })
})

describe('TRUNKLINE_KEYS', () => {
  afterEach(() => {
    delete process.env[keysVariable]
  })

  function paged() {
    const server = new Server({ name: 'a', version: '1' }, { pageSize: 1 })
    for (const name of ['a', 'b', 'c']) server.tool(name, {}, () => name)
    return server
  }

  async function cursorOf(server: Server): Promise<unknown> {
    await using client = await connect(server)
    return (await client.request('tools/list')).nextCursor
  }

  async function opens(server: Server, cursor: unknown): Promise<boolean> {
    await using client = await connect(server)
    return await client.request('tools/list', { cursor: cursor as string }).then(
      () => true,
      () => false,
    )
  }

  it('lets another process open what this one sealed, also after the key has changed', async () => {
    process.env[keysVariable] = hex('1')
    const cursor = await cursorOf(paged())
    expect(await opens(paged(), cursor)).toBe(true)
    process.env[keysVariable] = `${hex('2')},${hex('1')}`
    const rotated = paged()
    expect(await opens(rotated, cursor)).toBe(true)
    const newer = await cursorOf(rotated)
    process.env[keysVariable] = hex('1')
    expect(await opens(paged(), newer)).toBe(false)
  })

  it('is refused if it holds no keys', () => {
    process.env[keysVariable] = 'hunter2'
    expect(() => paged()).toThrow(/^TRUNKLINE_KEYS: key 1 of 1 is not at least 32 bytes/)
  })
})
