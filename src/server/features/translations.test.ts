import { expect, test } from 'vitest'
import { allRevisions } from '../../../test/support/answering-client.ts'
import { connect } from '../../connect.ts'
import { Server } from '../server.ts'

const title = { en: 'Add', de: 'Addieren' }

test.each(allRevisions)('texts are listed in the language of the caller, in %s', async revision => {
  await using server = new Server({ name: 'a', version: '1' })
  server.tool('add', { title, description: title }, () => '')
  server.tool('plain', { description: 'Plain' }, () => '')
  server.prompt('add', { description: title }, () => '')
  server.resource('add', 'a://b', { description: title }, () => '')
  server.resourceTemplate('add', 'a://{b}', { description: title }, () => '')
  const headers = { 'accept-language': 'de-CH, en;q=0.5' }
  await using german = await connect(server, { headers, revisions: [revision] })
  await using other = await connect(server, { revisions: [revision] })
  for (const [client, words] of [
    [german, 'Addieren'],
    [other, 'Add'],
  ] as const) {
    const listed: unknown[] = []
    for (const list of [
      client.tools(),
      client.prompts(),
      client.resources(),
      client.resourceTemplates(),
    ]) {
      for await (const { description } of list) listed.push(description)
    }
    expect(listed).toEqual([words, 'Plain', words, words, words])
  }
})

test('a translated list is cached by its caller alone', async () => {
  await using server = new Server(
    { name: 'a', version: '1' },
    { cache: { ttlMs: 1000, cacheScope: 'public' } },
  )
  server.tool('plain', {}, () => '')
  await using client = await connect(server, { revisions: ['2026-07-28'] })
  expect(await client.request('tools/list')).toMatchObject({ cacheScope: 'public' })
  server.tool('add', { title }, () => '')
  await using other = await connect(server, { revisions: ['2026-07-28'] })
  expect(await other.request('tools/list')).toMatchObject({ cacheScope: 'private' })
})

test('a deprecated tool says what to use instead', async () => {
  await using server = new Server({ name: 'a', version: '1' })
  const add = server.tool('add', { version: '1.0', deprecated: 'use sum' }, () => 'ok')
  server.tool('old', { description: title, deprecated: 'use sum', meta: { a: 1 } }, () => 'ok')
  await using client = await connect(server, { headers: { 'accept-language': 'de' } })
  const list = async () => (await client.request('tools/list')).tools
  expect(await list()).toMatchObject([
    {
      description: 'Deprecated: use sum',
      _meta: { 'trunkline/version': '1.0', 'trunkline/deprecated': 'use sum' },
    },
    {
      description: 'Addieren\n\nDeprecated: use sum',
      _meta: { a: 1, 'trunkline/deprecated': 'use sum' },
    },
  ])
  expect((await client.call('add')).text).toBe('ok')
  add.update({ deprecated: undefined, description: 'Adds' })
  expect((await list())[0]).toMatchObject({
    description: 'Adds',
    _meta: { 'trunkline/version': '1.0' },
  })
})

test('an invalid text is refused, also by an update', () => {
  const server = new Server({ name: 'a', version: '1' })
  expect(() => server.tool('a', { title: 5 as never }, () => '')).toThrow(
    'tool "a": "title" must be a string',
  )
  const tool = server.tool('b', {}, () => '')
  expect(() => tool.update({ description: {} })).toThrow('tool "b": "description" must be a string')
  expect(() => tool.update({ descripton: 'x' } as never)).toThrow('did you mean "description"?')
  expect(() => tool.update({ name: 'c' } as never)).toThrow('unknown option "name"')
})
