import { describe, expect, test } from 'vitest'
import { Random } from '../fuzz/random.ts'
import { expectOwnResponses, ledger } from './ledger.ts'
import { calling, inSession } from './requests.ts'
import { serve } from './served.ts'

describe('many clients of one server', () => {
  // `npm run soak -- http` makes ten times as many calls.
  test('get only their own responses: 10 000 calls of 200 clients in both eras', async () => {
    await expectOwnResponses(200, 50)
  })

  test.each(['stateless', 'session'])(
    'may use the same id for every request: a hundred at once (%s)',
    async era => {
      const { server, carriedOut } = ledger(new Random(8))
      const on = await serve({}, server)
      const session = era === 'session' ? await on.session() : undefined
      const ids = [1, '1', 0, '', '0']
      const replies = await Promise.all(
        Array.from({ length: 100 }, async (_, i) => {
          const word = `same-${i}`
          const id = ids[Math.floor(i / 20)] ?? 1
          const given = { name: 'later', arguments: { word } }
          const asking =
            session === undefined
              ? calling('later', { word }, { id })
              : inSession(session, 'tools/call', given, id)
          const { json } = await on.ask(asking)
          return [json.id === id, json.result.content[0].text === word]
        }),
      )
      expect(replies).toEqual(Array(100).fill([true, true]))
      expect(carriedOut.size).toBe(100)
    },
  )
})
