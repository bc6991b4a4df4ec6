import { setImmediate as turn } from 'node:timers/promises'

/** The methods of every server of the matrix. The class is a parameter because tests import it twice. */
export function answers(RpcError) {
  const notes = []
  return {
    sum: (...numbers) => numbers.reduce((total, number) => total + number, 0),
    subtract: ({ minuend, subtrahend }) => minuend - subtrahend,
    echo: value => value,
    nothing: () => {},
    note: word => void notes.push(word),
    notes: () => notes,
    fail: ({ code, message, data }) => {
      throw new RpcError(code, message, { data })
    },
    crash: () => {
      throw new Error('a secret of the server')
    },
    // Waits some turns of the event loop, so that calls finish out of order.
    later: async ({ value, turns }) => {
      for (let i = 0; i < turns; i++) await turn()
      return value
    },
    ask: async ({ question }, { back }) => `the answer is ${await back.call('answer', [question])}`,
    // Sends without ever waiting, as no method should.
    flood: ({ count, bytes }, exchange) => {
      const drop = 'x'.repeat(bytes)
      for (let i = 0; i < count; i++) void exchange.notify('drop', [drop])
    },
  }
}
