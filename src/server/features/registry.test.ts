import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { proves } from '../../../test/requirements.ts'
import {
  allRevisions,
  answeringClient,
  stateless,
  textOf,
} from '../../../test/support/answering-client.ts'
import { Server } from '../server.ts'
import { FeatureSet } from './registry.ts'

const make = () => new Server({ name: 'test', version: '1' }, { onError: () => {} })

describe('a set of features', () => {
  it('reports every change, and nothing else', () => {
    const onChange = vi.fn()
    const set = new FeatureSet<{ word: string }, string>('thing', onChange)
    const a = set.add('a', 'A', { word: 'hello' }, ({ word }) => word.toUpperCase(), undefined)
    a.enable()
    a.disable()
    a.disable()
    expect(() => a.update({ word: 5 as never })).toThrow(TypeError)
    a.update({ word: 'bye' })
    a.remove()
    a.remove()
    a.enable()
    expect(onChange).toHaveBeenCalledTimes(4)
    expect([set.list(), set.positions(), set.isUsed]).toEqual([[], [], true])
  })

  it('keeps names apart, and the places of those that stay', () => {
    proves('S5b', 'S5e')
    const set = new FeatureSet<object, string>('thing', () => {})
    const a = set.add('a', 'a', {}, () => 'a', undefined)
    set.add('A', 'A', {}, () => 'A', undefined)
    expect(() => set.add('a', 'other', {}, () => 'other', undefined)).toThrow('duplicate thing "a"')
    a.remove()
    set.add('a', 'again', {}, () => 'again', undefined)
    expect([set.list(), set.positions()]).toEqual([
      ['A', 'again'],
      [1, 2],
    ])
    expect(set.get('__proto__')).toBeUndefined()
  })
})

describe('names of tools', () => {
  it.each(['a', 'A-b_c.d', 'x'.repeat(128)])('%s is one', name => {
    proves('S5', 'S5c')
    expect(() => make().tool(name, {}, () => '')).not.toThrow()
  })

  it.each(['', 'a\nb', 'a\u200bb'])('%j is none', name => {
    proves('S5', 'S5c')
    expect(() => make().tool(name, {}, () => '')).toThrow(TypeError)
  })
})

describe.each(allRevisions)('tools in %s', revision => {
  it('are called with arguments that fit, and with no others', async () => {
    proves('S12', 'S8', 'S8c', 'S8e')
    const server = make()
    const code = vi.fn(() => 'ok')
    server.tool('t', { input: z.object({ n: z.int() }) }, code)
    const client = await answeringClient(server, revision)
    const asResult = revision >= '2025-11-25'
    for (const given of [{}, { n: 'x' }, { n: 0.5 }]) {
      const reply = await client.request('tools/call', { name: 't', arguments: given })
      if (asResult) expect(reply.result).toMatchObject({ isError: true })
      else expect(reply.error).toMatchObject({ code: -32602 })
    }
    for (const params of [{ name: 'nope' }, { name: 't', arguments: 5 }, { name: 7 }, {}]) {
      expect((await client.request('tools/call', params)).error).toMatchObject({ code: -32602 })
    }
    expect(code).not.toHaveBeenCalled()
    expect(textOf(await client.request('tools/call', { name: 't', arguments: { n: 1 } }))).toBe(
      'ok',
    )
  })

  it('list their input schemas, and their output schemas if the revision has them', async () => {
    proves('S6', 'S6b', 'S7', 'S7c', 'S7d', 'S7e', 'S8b')
    const server = make()
    server.tool('none', {}, () => {
      throw new Error('out of paper')
    })
    server.tool('sum', { output: z.object({ sum: z.number() }) }, () => ({ sum: 3 }))
    server.tool('list', { output: z.array(z.number()) }, () => [1, 2])
    server.tool('wrong', { output: z.object({ sum: z.number() }) }, () => ({ sum: 'x' }) as never)
    const client = await answeringClient(server, revision)
    const { result } = await client.request('tools/list')
    const tools = result?.tools as {
      readonly inputSchema: object
      readonly outputSchema?: object
    }[]
    expect(tools[0]?.inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
    expect(tools.map(({ outputSchema }) => outputSchema !== undefined)).toEqual([
      false,
      revision >= '2025-06-18',
      revision === stateless,
      revision >= '2025-06-18',
    ])
    const sum = (await client.request('tools/call', { name: 'sum' })).result
    expect(sum?.content).toEqual([{ type: 'text', text: '{"sum":3}' }])
    expect(sum?.structuredContent).toEqual(revision >= '2025-06-18' ? { sum: 3 } : undefined)
    const list = (await client.request('tools/call', { name: 'list' })).result
    expect(list?.content).toEqual([{ type: 'text', text: '[1,2]' }])
    expect(list?.structuredContent).toEqual(revision === stateless ? [1, 2] : undefined)
    expect((await client.request('tools/call', { name: 'wrong' })).error).toMatchObject({
      code: -32603,
    })
    expect((await client.request('tools/call', { name: 'none' })).result).toMatchObject({
      isError: true,
      content: [{ text: 'out of paper' }],
    })
  })
})
