import { expect, it } from 'vitest'
import type { Message } from '../message.ts'
import { ReplyBatch } from './reply-batch.ts'

const result = (id: number): Message => ({ type: 'result', id, result: id })

it('sends the replies together, in the order of asking', () => {
  const sent: (readonly Message[])[] = []
  const gathering = new ReplyBatch(replies => sent.push(replies))
  const places = [gathering.expect(), gathering.expect(), gathering.expect()]
  gathering.complete()
  gathering.put(places[2] as number, result(3))
  gathering.put(places[0] as number, result(1))
  expect(sent).toEqual([])
  gathering.put(places[1] as number, undefined)
  expect(sent).toEqual([[result(1), result(3)]])
})

it('waits until every slot is reserved', () => {
  const sent: (readonly Message[])[] = []
  const gathering = new ReplyBatch(replies => sent.push(replies))
  gathering.put(gathering.expect(), result(1))
  expect(sent).toEqual([])
  gathering.put(gathering.expect(), result(2))
  gathering.complete()
  expect(sent).toEqual([[result(1), result(2)]])
})

it('sends nothing if no entry needs a reply', () => {
  const sent: (readonly Message[])[] = []
  new ReplyBatch(replies => sent.push(replies)).complete()
  expect(sent).toEqual([])
})
