import { describe, expect, test } from 'vitest'
import { Inbox } from './wire.ts'

describe('an inbox', () => {
  test('gives what matches, whether it has come or comes', async () => {
    const inbox = new Inbox()
    inbox.pushText('{"id":1,"result":1}')
    const second = inbox.take(
      arrival => arrival.type === 'message' && arrival.message.id === 2,
      60_000,
    )
    inbox.pushText('{"id":2,"result":2}')
    expect(await second).toEqual({ type: 'message', message: { id: 2, result: 2 } })
    expect(await inbox.take(() => true, 0)).toMatchObject({ message: { id: 1 } })
  })

  test('says that nothing came, and that nothing can come', async () => {
    const inbox = new Inbox()
    expect(await inbox.take(() => true, 1)).toEqual({ type: 'silence', ms: 1 })
    const waiting = inbox.take(() => true, 60_000)
    inbox.end('over')
    inbox.end('over again')
    expect(await waiting).toEqual({ type: 'gone', why: 'over' })
  })

  test('keeps requests of the server from those who wait for replies', async () => {
    const inbox = new Inbox()
    const asked: unknown[] = []
    inbox.onRequest = message => asked.push(message.method)
    inbox.pushText('{"id":1,"method":"ping"}')
    expect(asked).toEqual(['ping'])
    expect((await inbox.take(() => true, 0)).type).toBe('silence')
  })

  test.each(['', 'hello', '5', '[]', '[1]', 'null', '{"a":'])(
    'does not take "%s" for a message',
    text => {
      expect(new Inbox().pushText(text)).toBe(false)
    },
  )

  test('takes a batch apart', async () => {
    const inbox = new Inbox()
    expect(inbox.pushText('[{"id":1,"result":1},{"id":2,"result":2}]')).toBe(true)
    expect(await inbox.take(() => true, 0)).toMatchObject({ message: { id: 1 } })
    expect(await inbox.take(() => true, 0)).toMatchObject({ message: { id: 2 } })
  })
})
