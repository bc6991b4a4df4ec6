import { eventually, expectCode, expectEqual, expectTypeError } from './expectations.ts'
import type { CaseDefinition } from './harness.ts'

/** Messages. */
export const busCases: readonly CaseDefinition[] = [
  {
    name: 'every subscriber gets the messages of its channel, in order and exactly',
    async run({ one, other, key }) {
      const texts = Array.from({ length: 100 }, (_, at) => `${at} \0 äß€😀\r\n`)
      const received: string[][] = [[], [], [], []]
      const into = (at: number) => ({
        message: (text: string) => void received[at]?.push(text),
        gap: () => {},
      })
      await one.bus.subscribe(key, into(0))
      await other.bus.subscribe(key, into(1))
      await other.bus.subscribe(key, into(2))
      await other.bus.subscribe(`${key}:other`, into(3))
      for (const text of texts) one.bus.publish(key, text)
      one.bus.publish(key, 'last')
      await eventually(() => received.slice(0, 3).every(all => all.at(-1) === 'last'))
      for (const all of received.slice(0, 3)) expectEqual(all, [...texts, 'last'], 'the messages')
      expectEqual(received[3], [], 'the messages of another channel')
    },
  },
  {
    name: 'a subscription ends when its function is called, and others go on',
    async run({ one, other, key }) {
      const received: string[] = []
      const into = (name: string) => ({
        message: (text: string) => void received.push(`${name} ${text}`),
        gap: () => {},
      })
      const end = await other.bus.subscribe(key, into('a'))
      await other.bus.subscribe(key, into('b'))
      end()
      end()
      one.bus.publish(key, '1')
      await eventually(() => received.length > 0)
      expectEqual(received, ['b 1'], 'the messages')
    },
  },
  {
    name: 'messages that cannot be sent are refused, with the reason',
    async run({ one, key }) {
      await expectTypeError(() => one.bus.publish('', 'a'), 'no channel')
      await expectTypeError(() => one.bus.publish(key, '\udc00'), 'a lone surrogate')
      const large = Promise.resolve().then(() => one.bus.publish(key, 'x'.repeat(2 ** 23 + 1)))
      await expectCode(large, 'too-large')
    },
  },
]
