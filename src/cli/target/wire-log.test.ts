import { expect, test } from 'vitest'
import { Peer } from '../../jsonrpc/peer/peer.ts'
import { memoryPair } from '../../transport/memory.ts'
import { withWireLog } from './wire-log.ts'

test('logs every message and the close', async () => {
  const [near, far] = memoryPair()
  const lines: string[] = []
  const server = new Peer(far, { sum: (a: number, b: number) => a + b })
  const client = new Peer(withWireLog(near, line => lines.push(line)))
  expect(await client.call('sum', [1, 2])).toBe(3)
  await client.close()
  await server.close()
  expect(lines).toEqual([
    '-> {"jsonrpc":"2.0","id":1,"method":"sum","params":[1,2]}',
    '<- {"jsonrpc":"2.0","id":1,"result":3}',
    '-- closed',
  ])
})
