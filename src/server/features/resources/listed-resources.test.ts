import { expect, test } from 'vitest'
import { allRevisions } from '../../../../test/support/answering-client.ts'
import { connect } from '../../../connect.ts'
import { Server } from '../../server.ts'

const info = { name: 'a', version: '1' }

/** A table of notes, as a database would page it. */
function page(cursor: string | undefined, total: number, size: number) {
  const start = Number(cursor ?? 0)
  const rows = Array.from({ length: Math.min(size, total - start) }, (_, at) => start + at)
  const next = start + size < total ? String(start + size) : undefined
  return { resources: rows.map(id => ({ uri: `note://${id}`, name: `Note ${id}` })), next }
}

async function uris(list: AsyncIterable<{ readonly uri: string }>): Promise<string[]> {
  const found: string[] = []
  for await (const { uri } of list) found.push(uri)
  return found
}

test.each(allRevisions)('a template lists its resources page by page, in %s', async revision => {
  await using server = new Server(info, {
    pageSize: 4,
    context: ({ principal }) => ({ id: principal?.id }),
  })
  for (let n = 0; n < 5; n++) server.resource(`r${n}`, `own://${n}`, {}, () => '')
  const cursors: unknown[] = []
  server.resourceTemplate(
    'note',
    'note://{id}',
    {
      list: (cursor, { env }) => {
        cursors.push(`${env.id} ${cursor}`)
        return page(cursor, 7, 3)
      },
    },
    ({ id }) => id,
  )
  server.resourceTemplate(
    'other',
    'other://{id}',
    {
      list: async () => ({ resources: [{ uri: 'other://1', name: 'one' }] }),
    },
    ({ id }) => id,
  )
  await using client = await connect(server, { principal: { id: 'ada' }, revisions: [revision] })
  const all = await uris(client.resources())
  const notes = Array.from({ length: 7 }, (_, n) => `note://${n}`)
  expect(all).toEqual([...Array.from({ length: 5 }, (_, n) => `own://${n}`), ...notes, 'other://1'])
  expect(cursors).toEqual(['ada undefined', 'ada 3', 'ada 6'])
})

test('its cursors belong to one caller', async () => {
  await using server = new Server(info, { pageSize: 1 })
  server.resourceTemplate('note', 'note://{id}', { list: cursor => page(cursor, 9, 3) }, () => '')
  await using ada = await connect(server, { principal: { id: 'ada' } })
  await using bob = await connect(server, { principal: { id: 'bob' } })
  const { nextCursor } = await ada.request('resources/list')
  await expect(bob.request('resources/list', { cursor: nextCursor })).rejects.toMatchObject({
    code: -32602,
  })
  expect(await ada.request('resources/list', { cursor: nextCursor })).toMatchObject({
    resources: [{ uri: 'note://3' }, { uri: 'note://4' }, { uri: 'note://5' }],
  })
})

test('a list of empty pages ends the page, not the list', async () => {
  await using server = new Server(info)
  let calls = 0
  const list = (cursor: string | undefined) => {
    calls++
    const n = Number(cursor ?? 0)
    return {
      resources: n === 150 ? [{ uri: 'note://1', name: 'one' }] : [],
      next: n < 150 ? `${n + 1}` : undefined,
    }
  }
  server.resourceTemplate('note', 'note://{id}', { list }, () => '')
  await using client = await connect(server)
  const first = await client.request('resources/list')
  expect([first.resources, calls]).toEqual([[], 100])
  expect(await uris(client.resources({ fresh: true }))).toEqual(['note://1'])
})

test.each([
  ['nothing', undefined, 'must return { resources, next }'],
  ['a resource without a name', { resources: [{ uri: 'a://b' }] }, 'without uri or name'],
  ['a cursor that is no string', { resources: [], next: 5 }, 'next must be a string'],
  ['a long cursor', { resources: [], next: 'x'.repeat(1025) }, 'at most 1024 characters'],
])('%s is reported', async (_, returned, message) => {
  const reported: unknown[] = []
  await using server = new Server(info, { onError: error => void reported.push(error) })
  server.resourceTemplate('note', 'note://{id}', { list: () => returned as never }, () => '')
  await using client = await connect(server)
  await expect(client.request('resources/list')).rejects.toThrow('Internal error')
  expect(reported).toMatchObject([{ message: expect.stringContaining(message) }])
})
