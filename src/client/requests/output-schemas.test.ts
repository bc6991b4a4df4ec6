import { describe, expect, expectTypeOf, it, vi } from 'vitest'
import { z } from 'zod'
import { proves } from '../../../test/requirements.ts'
import { type Loose, sessionServer, turns } from '../../../test/support/scripted-server.ts'
import { openClient } from '../client.ts'
import { OutputSchemas } from './output-schemas.ts'

const schema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }

async function opened(structuredContent: unknown, outputSchema: unknown = schema, extra = {}) {
  const onError = vi.fn()
  const server = sessionServer('2025-11-25', {
    'tools/list': () => ({ tools: [{ name: 'add', inputSchema: {}, outputSchema }] }),
    'tools/call': () => ({ content: [], structuredContent, ...extra }),
  })
  const client = await openClient(server.dial, { onError })
  onError.mockClear()
  const list = async () => {
    for await (const _ of client.tools());
  }
  return { client, server, list, onError }
}

describe('the output schema of a listed tool', () => {
  it('is checked against the structured content', async () => {
    proves('S7b', 'S12f')
    const { client, list } = await opened({ sum: 'three' })
    await using _ = client
    expect((await client.call('add')).structured).toEqual({ sum: 'three' })
    await list()
    const error = await client.call('add').catch(e => e)
    expect(error).toMatchObject({ name: 'ChannelError', code: 'framing' })
    expect(error.message).toContain('add')
  })

  it('is checked if the structured content is missing', async () => {
    const { client, list } = await opened(undefined)
    await using _ = client
    await list()
    await expect(client.call('add')).rejects.toMatchObject({ code: 'framing' })
  })

  it('does not apply to a tool that failed', async () => {
    const { client, list } = await opened(undefined, schema, { isError: true })
    await using _ = client
    await list()
    expect((await client.call('add')).isError).toBe(true)
  })

  it('is forgotten when the tools change', async () => {
    const { client, list, server } = await opened({ sum: 'three' })
    await using _ = client
    await list()
    server.notify('notifications/tools/list_changed')
    await turns()
    expect((await client.call('add')).structured).toEqual({ sum: 'three' })
  })

  it('does no harm if it is invalid', async () => {
    const { client, list, onError } = await opened({ sum: 3 }, { type: 'nonsense' })
    await using _ = client
    await list()
    expect((await client.call('add')).structured).toEqual({ sum: 3 })
    expect(onError).toHaveBeenCalledTimes(1)
    await client.call('add')
    expect(onError).toHaveBeenCalledTimes(1)
  })

  it('fetches nothing that it refers to', async () => {
    proves('S12j')
    const fetched = vi.spyOn(globalThis, 'fetch')
    const elsewhere = { type: 'object', properties: { sum: { $ref: 'https://x.test/sum.json' } } }
    const { client, list, onError } = await opened({ sum: 3 }, elsewhere)
    await using _ = client
    await list()
    expect((await client.call('add')).structured).toEqual({ sum: 3 })
    expect(onError).toHaveBeenCalledTimes(1)
    expect(fetched).not.toHaveBeenCalled()
    fetched.mockRestore()
  })

  it.each([null, 'x', 7, true])('is ignored if it is not a schema: %s', async outputSchema => {
    const { client, list } = await opened({ sum: 3 }, outputSchema)
    await using _ = client
    await list()
    await client.call('add')
  })

  it('is kept for a limited number of tools', async () => {
    const schemas = new OutputSchemas(() => {})
    const inputSchema = { type: 'object' } as const
    for (let i = 0; i < 1100; i++) schemas.add({ name: `${i}`, inputSchema, outputSchema: schema })
    const wrong: Loose = { isError: false, structured: {} }
    await schemas.check('0', wrong)
    await expect(schemas.check('1099', wrong)).rejects.toMatchObject({ code: 'framing' })
  })
})

describe('a schema of the caller', () => {
  it('types the result and checks it', async () => {
    const { client } = await opened({ sum: 3 })
    await using _ = client
    const { structured } = await client.call('add', {}, { output: z.object({ sum: z.number() }) })
    expectTypeOf(structured).toEqualTypeOf<{ sum: number }>()
    expect(structured.sum).toBe(3)
    const wrong = client.call('add', {}, { output: z.object({ sum: z.string() }) })
    await expect(wrong).rejects.toMatchObject({ code: 'framing' })
  })

  it('needs no JSON Schema of its own', async () => {
    const { client } = await opened({ sum: 3 })
    await using _ = client
    const output = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value: unknown) => ({ value: value as { readonly sum: number } }),
      },
    } as const
    expect((await client.call('add', {}, { output })).structured).toEqual({ sum: 3 })
  })

  it('may be a plain JSON Schema', async () => {
    const { client } = await opened({ sum: 3 })
    await using _ = client
    const output = {
      type: 'object',
      properties: { sum: { type: 'number' } },
      required: ['sum'],
    } as const
    const { structured } = await client.call('add', {}, { output })
    expectTypeOf(structured.sum).toEqualTypeOf<number>()
    expect(structured.sum).toBe(3)
  })
})
