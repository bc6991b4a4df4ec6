import { describe, expect, it } from 'vitest'
import { allRevisions, answeringClient } from '../../../../test/support/answering-client.ts'
import { audio, embed, image, link, text } from '../../../mcp/content/content.ts'
import { Server } from '../../server.ts'

function make() {
  const reports: string[] = []
  const server = new Server(
    { name: 'test', version: '1' },
    { onError: error => reports.push(error instanceof Error ? error.message : String(error)) },
  )
  return { server, reports }
}

const bad = [
  ['an image that is not Base64', image('not base64!!', 'image/png'), 'content[0].data'],
  ['an image without a media type', image('YQ==', 'png'), 'content[0].mimeType'],
  ['audio that is not Base64', [text('a'), audio('%%%', 'audio/wav')], 'content[1].data'],
  ['a blob that is not Base64', embed({ uri: 'a:b', blob: '%%%' }), 'content[0].resource.blob'],
  ['a link to nonsense', link('a:b', { mimeType: 'nonsense' }), 'content[0].mimeType'],
  [
    'a whole result',
    { content: [{ type: 'image', data: '%%%', mimeType: 'image/png' }], isError: true },
    'content[0].data',
  ],
  ['an unknown type', { content: [{ type: 'video', data: 'YQ==' }] }, 'has the type "video"'],
  ['an unknown type among others', [text('a'), { type: 'video' }], 'has the type "video"'],
  ['an incomplete block', { content: [{ type: 'image' }] }, 'not a complete block of type "image"'],
] as const

describe.each(allRevisions)('in %s', revision => {
  it.each(bad)('a tool that returns %s is reported to its author', async (_, value, fault) => {
    const { server, reports } = make()
    server.tool('draw', {}, () => value as never)
    const client = await answeringClient(server, revision)
    const { error } = await client.request('tools/call', { name: 'draw', arguments: {} })
    expect(error).toMatchObject({ code: -32603, message: 'Internal error' })
    expect(reports).toEqual([expect.stringContaining('invalid result of tool "draw"')])
    expect(reports[0]).toContain(fault)
  })

  it('a prompt and a resource are checked as well', async () => {
    const { server, reports } = make()
    server.prompt('ask', {}, () => [image('%%%', 'image/png')])
    server.resource('blob', 'r:///blob', {}, () => ({ uri: 'r:///blob', blob: '%%%' }))
    server.resource('type', 'r:///type', {}, () => ({ uri: 'r:///type', text: '', mimeType: 'x' }))
    const client = await answeringClient(server, revision)
    for (const [method, params] of [
      ['prompts/get', { name: 'ask' }],
      ['resources/read', { uri: 'r:///blob' }],
      ['resources/read', { uri: 'r:///type' }],
    ] as const) {
      expect((await client.request(method, params)).error).toMatchObject({ code: -32603 })
    }
    expect(reports).toEqual([
      expect.stringContaining('invalid result of prompt "ask": messages[0].content.data'),
      expect.stringContaining('invalid contents of resource "r:///blob": contents[0].blob'),
      expect.stringContaining('invalid contents of resource "r:///type": contents[0].mimeType'),
    ])
  })
})

it('data that only resembles content is sent as JSON', async () => {
  const { server, reports } = make()
  server.tool('doc', {}, () => ({ type: 'doc', content: [{ type: 'paragraph' }] }))
  server.tool('shapes', {}, () => [{ type: 'circle' }, { type: 'square' }])
  const client = await answeringClient(server, '2025-11-25')
  for (const name of ['doc', 'shapes']) {
    const { result } = await client.request('tools/call', { name, arguments: {} })
    expect(result).toMatchObject({ content: [{ type: 'text' }] })
  }
  expect(reports).toEqual([])
})

it('an invalid media type is rejected when it is registered or updated', () => {
  const { server } = make()
  const definition = { mimeType: 'nonsense' }
  expect(() => server.resource('r', 'r:///r', definition, () => '')).toThrow(
    /resource "r": mimeType is not a media type/,
  )
  expect(() => server.resourceTemplate('t', 'r:///{x}', definition, () => '')).toThrow(
    /resource template "t": mimeType is not a media type/,
  )
  const registered = server.resource('ok', 'r:///ok', { mimeType: 'text/plain' }, () => '')
  expect(() => registered.update({ mimeType: 'x' })).toThrow(/mimeType is not a media type/)
})
