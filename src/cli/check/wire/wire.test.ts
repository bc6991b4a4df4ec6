import { describe, expect, test } from 'vitest'
import { IncomingQueue } from './wire.ts'

describe('a queue of incoming messages', () => {
  test('returns a match, queued or arriving later', async () => {
    const incoming = new IncomingQueue()
    incoming.pushText('{"id":1,"result":1}')
    const second = incoming.take(
      arrival => arrival.type === 'message' && arrival.message.id === 2,
      60_000,
    )
    incoming.pushText('{"id":2,"result":2}')
    expect(await second).toEqual({ type: 'message', message: { id: 2, result: 2 } })
    expect(await incoming.take(() => true, 0)).toMatchObject({ message: { id: 1 } })
  })

  test('reports a timeout, and that the wire is closed', async () => {
    const incoming = new IncomingQueue()
    expect(await incoming.take(() => true, 1)).toEqual({ type: 'timeout', ms: 1 })
    const waiting = incoming.take(() => true, 60_000)
    incoming.close('first')
    incoming.close('second')
    expect(await waiting).toEqual({ type: 'closed', reason: 'first' })
  })

  test('does not queue requests of the server', async () => {
    const incoming = new IncomingQueue()
    const requests: unknown[] = []
    incoming.onRequest = message => requests.push(message.method)
    incoming.pushText('{"id":1,"method":"ping"}')
    expect(requests).toEqual(['ping'])
    expect((await incoming.take(() => true, 0)).type).toBe('timeout')
  })

  test.each(['', 'hello', '5', '[]', '[1]', 'null', '{"a":'])('rejects "%s" as a message', text => {
    expect(new IncomingQueue().pushText(text)).toBe(false)
  })

  test('splits a batch', async () => {
    const incoming = new IncomingQueue()
    expect(incoming.pushText('[{"id":1,"result":1},{"id":2,"result":2}]')).toBe(true)
    expect(await incoming.take(() => true, 0)).toMatchObject({ message: { id: 1 } })
    expect(await incoming.take(() => true, 0)).toMatchObject({ message: { id: 2 } })
  })
})
