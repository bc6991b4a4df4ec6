import { expect, test } from 'vitest'
import { HeldBytes } from '../../util/sockets/held-bytes.ts'
import type { HttpReply, HttpRequest } from '../exchange.ts'
import { handleInTurn, nodeHost } from './host.ts'

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

function setup() {
  const held = new HeldBytes({ maxHeldBytes: 1_000_000 })
  const host = nodeHost({}, { held })
  const handled: string[] = []
  const handle = (request: HttpRequest): void => void handled.push(request.path)
  // The checks: nothing else of a request and its reply is looked at.
  const ask = (path: string, isFinished = false): void =>
    handleInTurn({ handle }, { path } as HttpRequest, { isFinished } as HttpReply, host)
  return { held, ask, handled }
}

test('requests are handled at once while little is held', () => {
  const { ask, handled } = setup()
  ask('a')
  ask('b')
  expect(handled).toEqual(['a', 'b'])
})

test('the request of a client that has left meanwhile is not handled', async () => {
  const { held, ask, handled } = setup()
  held.hold(() => {}).set(600_000)
  ask('left', true)
  ask('here')
  expect(handled).toEqual([])
  await turn()
  expect(handled).toEqual(['here'])
})
