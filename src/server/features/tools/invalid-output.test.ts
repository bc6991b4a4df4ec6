import { expect, test } from 'vitest'
import { connect } from '../../../connect.ts'
import { Server } from '../../server.ts'

test('an invalid output is reported in one line, without frames that are not of the author', async () => {
  const reported: unknown[] = []
  const onError = (error: unknown) => void reported.push(error)
  await using server = new Server({ name: 'a', version: '1' }, { onError })
  const output = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const
  server.tool('count', { output }, () => ({ n: 'many' }) as never)
  await using client = await connect(server)
  await expect(client.call('count')).rejects.toThrow('Internal error')
  expect(reported).toEqual([expect.any(Error)])
  const [{ stack }] = reported as [Error]
  expect(stack).toMatch(/^Error: invalid output of tool "count": [^\n]+$/)
})
