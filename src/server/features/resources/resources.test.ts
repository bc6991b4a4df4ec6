import { describe, expect, it, vi } from 'vitest'
import { proves } from '../../../../test/requirements.ts'
import {
  allRevisions,
  answeringClient,
  stateless,
} from '../../../../test/support/answering-client.ts'
import { Server } from '../../server.ts'

function make() {
  return new Server({ name: 'test', version: '1' }, { onError: () => {} })
}

describe.each(allRevisions)('resources in %s', revision => {
  it('hold text or Base64, under their own address and type', async () => {
    proves('S18c')
    const server = make()
    server.resource('text', 'r:///text', { mimeType: 'text/plain' }, () => 'hi')
    server.resource('bytes', 'r:///bytes', {}, () => new Uint8Array([255, 0]))
    const client = await answeringClient(server, revision)
    expect((await client.request('resources/read', { uri: 'r:///text' })).result).toMatchObject({
      contents: [{ uri: 'r:///text', mimeType: 'text/plain', text: 'hi' }],
    })
    expect((await client.request('resources/read', { uri: 'r:///bytes' })).result).toMatchObject({
      contents: [{ uri: 'r:///bytes', blob: '/wA=' }],
    })
  })

  it('that do not exist are an error, and never empty', async () => {
    proves('S15', 'S15b', 'S15c', 'S18')
    const server = make()
    server.resource('gone', 'r:///gone', {}, () => undefined)
    server.resource('off', 'r:///off', {}, () => 'off').disable()
    server.resourceTemplate('users', 'db://users/{id}', {}, async () => null)
    const client = await answeringClient(server, revision)
    for (const uri of ['r:///gone', 'r:///off', 'r:///never', 'db://users/7', 'nonsense', '']) {
      expect((await client.request('resources/read', { uri })).error).toMatchObject({
        code: revision === stateless ? -32602 : -32002,
        data: { uri, kind: 'resource_not_found' },
      })
    }
    for (const uri of [undefined, 5, null]) {
      expect((await client.request('resources/read', { uri })).error).toMatchObject({
        code: -32602,
        data: { details: 'uri must be a string' },
      })
    }
  })

  it('of a family are found by their template', async () => {
    proves('S14')
    const server = make()
    server.resourceTemplate('log', 'log://{host}/{+path}{?from,to}', {}, variables =>
      JSON.stringify(variables),
    )
    const client = await answeringClient(server, revision)
    const uri = 'log://a.example/x/y.log?to=5'
    expect((await client.request('resources/read', { uri })).result).toMatchObject({
      contents: [{ uri, text: '{"host":"a.example","path":"x/y.log","to":"5"}' }],
    })
  })

  it.each([
    'file:///docs/..',
    'file:///docs/%2e%2e',
    'file:///docs/..%2Fsecret',
    'file:///docs/..%5Csecret',
    'file:///docs/%2Fetc%2Fpasswd',
    'file:///docs/a%00b',
    'FILE:///docs/..',
    'file:///deep/a/../../secret',
    'file:///deep//etc/passwd',
  ])('of files do not lead out of their folder: %s', async uri => {
    proves('S16')
    const server = make()
    const read = vi.fn(() => 'secret')
    server.resourceTemplate('doc', 'file:///docs/{name}', {}, read)
    server.resourceTemplate('upper', 'FILE:///docs/{name}', {}, read)
    server.resourceTemplate('deep', 'file:///deep/{+path}', {}, read)
    const client = await answeringClient(server, revision)
    expect((await client.request('resources/read', { uri })).error).toBeDefined()
    expect(read).not.toHaveBeenCalled()
    const { result } = await client.request('resources/read', { uri: 'file:///docs/..a.txt' })
    expect(result).toMatchObject({ contents: [{ text: 'secret' }] })
  })
})

it.each(['', 'no scheme', '/etc/passwd', 'x y://z'])('the address %j is refused', uri => {
  proves('S14b')
  expect(() => make().resource('r', uri, {}, () => '')).toThrow(/is not a URI/)
})

it.each(['db://{', 'db://{a', 'db://}', 'db://{a b}'])('the template %j is refused', template => {
  proves('S14')
  expect(() => make().resourceTemplate('t', template, {}, () => '')).toThrow()
})
