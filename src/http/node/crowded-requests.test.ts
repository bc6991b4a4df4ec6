import { expect, test } from 'vitest'
import { HeldBytes } from '../../util/sockets/held-bytes.ts'
import type { HttpReply, HttpRequest } from '../exchange.ts'
import { CrowdedRequests } from './crowded-requests.ts'

const MiB = 1024 * 1024
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

function setup() {
  const held = new HeldBytes(10 * MiB)
  const requests = new CrowdedRequests(held)
  const handled: string[] = []
  // The check: the queue looks at nothing else.
  const replyOf = (isFinished: boolean) => ({ isFinished }) as HttpReply
  const ask = (path: string, responseBytes = 0, isFinished = false): void => {
    const handle = (request: HttpRequest): void => {
      handled.push(request.path)
      if (responseBytes > 0) held.hold().set(responseBytes)
    }
    requests.handle({ handle }, { path } as HttpRequest, replyOf(isFinished))
  }
  return { held, ask, handled }
}

test('requests are handled at once while little is held', () => {
  const { ask, handled } = setup()
  ask('a')
  ask('b')
  expect(handled).toEqual(['a', 'b'])
})

test('while much is held, a turn ends after a response that is not read', async () => {
  const { held, ask, handled } = setup()
  held.hold().set(6 * MiB)
  ask('small')
  ask('large', MiB)
  ask('next')
  expect(handled).toEqual([])
  await turn()
  expect(handled).toEqual(['small', 'large'])
  await turn()
  expect(handled).toEqual(['small', 'large', 'next'])
})

test('the request of a client that has left meanwhile is not handled', async () => {
  const { held, ask, handled } = setup()
  held.hold().set(6 * MiB)
  ask('left', 0, true)
  ask('here')
  await turn()
  expect(handled).toEqual(['here'])
})
