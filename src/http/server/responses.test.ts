import { expect, test } from 'vitest'
import { FakeReply } from '../../../test/support/http.ts'
import { noHeaders, withHeaders } from './responses.ts'

test('added headers are on a whole response and on an event stream', () => {
  const whole = new FakeReply()
  withHeaders(whole, { x: 'y' }).send(200, { a: 'b' }, '')
  expect(whole.headers).toEqual({ x: 'y', a: 'b' })
  const streamed = new FakeReply()
  withHeaders(streamed, { x: 'y' }).stream({ a: 'b' })
  expect(streamed.headers).toEqual({ x: 'y', a: 'b' })
})

test('a reply without added headers is not wrapped', () => {
  const reply = new FakeReply()
  expect(withHeaders(reply, noHeaders)).toBe(reply)
})
