import { expect, test } from 'vitest'
import {
  allRevisions,
  answeringClient,
  stateless,
  textOf,
} from '../../../test/support/answering-client.ts'
import { manualDeadlines, turn, wire } from '../../../test/support/wire.ts'
import { Server } from '../server.ts'

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'client', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

test('listen streams end gracefully when the client ends its side', async () => {
  const { deadlines } = manualDeadlines()
  const server = new Server({ name: 'server', version: '1.0.0' }, { peer: { deadlines } })
  server.tool('hello', {}, () => 'hello')
  const end = wire()
  const { closed } = server.attach(end.channel)
  const params = { notifications: { toolsListChanged: true }, _meta: meta }
  end.deliver(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }))
  await turn()
  expect(end.sent.splice(0)).toHaveLength(1)
  end.disconnect()
  // The clock stands still: nothing but the end itself can end them.
  expect(await closed).toBeUndefined()
  expect(end.sent.map(text => JSON.parse(text))).toContainEqual(
    expect.objectContaining({ id: 1, result: expect.objectContaining({ resultType: 'complete' }) }),
  )
})

test.each(allRevisions)('handlers are shown a session only where %s has them', async revision => {
  const server = new Server({ name: 'server', version: '1.0.0' })
  server.tool('where', {}, (_, { session }) => (session === undefined ? 'nowhere' : 'in a session'))
  const client = await answeringClient(server, revision)
  const reply = await client.request('tools/call', { name: 'where' })
  expect(textOf(reply)).toBe(revision === stateless ? 'nowhere' : 'in a session')
})
