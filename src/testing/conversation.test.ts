import { expect, test } from 'vitest'
import { ChannelError } from '../jsonrpc/channel.ts'
import type { Decoded } from '../jsonrpc/message.ts'
import { deferred } from '../util/promises.ts'
import { converse } from './conversation.ts'

const note = '{"jsonrpc":"2.0","method":"note"}'

test('texts become messages and messages become texts', async () => {
  const [channel, conversation] = converse()
  channel.open({
    receive: arrival => {
      if (arrival.type === 'notification') void channel.send(arrival)
      if (arrival.type === 'invalid') void channel.send({ ...arrival, type: 'error' })
    },
    closed: () => {},
  })
  await conversation.send(note)
  await conversation.send('nonsense')
  expect(await conversation.next()).toBe(note)
  expect(await conversation.next()).toContain('-32700')
})

test('texts arrive asynchronously and in order, even before the channel is open', async () => {
  const [channel, conversation] = converse()
  const arrived: string[] = []
  await conversation.send(note)
  channel.open({ receive: arrival => void arrived.push(arrival.type), closed: () => {} })
  void conversation.send('[')
  expect(arrived).toEqual([])
  await expect.poll(() => arrived).toEqual(['notification', 'invalid'])
})

test('the next text waits until the server is ready for it, but not beyond the end', async () => {
  const [channel, conversation] = converse()
  const busy = deferred<void>()
  const arrived: Decoded[] = []
  let isClosed = false
  channel.open({
    receive: arrival => {
      arrived.push(arrival)
      return busy.promise
    },
    closed: () => {
      isClosed = true
    },
  })
  await conversation.send(note)
  await conversation.send(note)
  await expect.poll(() => arrived.length).toBe(1)
  await conversation.close()
  await expect.poll(() => isClosed).toBe(true)
  expect(arrived.length).toBe(2)
})

test('after closing nothing can be sent, and earlier texts can still be read', async () => {
  const [channel, conversation] = converse()
  const closedWith: (Error | undefined)[] = []
  channel.open({ receive: () => {}, closed: cause => void closedWith.push(cause) })
  await channel.send({ type: 'notification', method: 'note' })
  await channel.close()
  await conversation.close()
  await channel[Symbol.asyncDispose]()
  expect(await conversation.next()).toBe(note)
  await expect(conversation.next()).rejects.toThrow(ChannelError)
  expect(() => conversation.send(note)).toThrow(ChannelError)
  expect(() => channel.send({ type: 'notification', method: 'note' })).toThrow(ChannelError)
  expect(closedWith).toEqual([undefined])
})

test('a server that throws ends the conversation', async () => {
  const [channel, conversation] = converse()
  const closedWith = deferred<Error | undefined>()
  channel.open({
    receive: () => {
      throw new Error('a fault of the server')
    },
    closed: closedWith.resolve,
  })
  const next = conversation.next()
  await conversation.send(note)
  await expect(next).rejects.toThrow('the conversation is closed')
  expect((await closedWith.promise)?.cause).toEqual(new Error('a fault of the server'))
})

test('a message that is not JSON is rejected', () => {
  const [channel] = converse()
  const message = { type: 'result', id: 1, result: 1n } as const
  expect(() => channel.send(message)).toThrow(ChannelError)
})
