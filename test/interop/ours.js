import { answers, fault } from './answers.js'

/** The methods for our server. The error class is a parameter, because tests import it from two places. */
export function ourMethods(RpcError) {
  const { add, greet, echo, nothing, mark, marks, forget } = answers()
  return {
    add,
    greet: ({ name }) => greet(name),
    echo: ({ value }) => echo(value),
    nothing,
    fail: ({ how }) => {
      if (how === 'expected') throw new RpcError(fault.code, fault.message, { data: fault.data })
      throw new Error('a secret of the server')
    },
    wait: (_params, exchange) =>
      new Promise((_resolve, reject) => {
        exchange.signal.addEventListener('abort', () => {
          mark('cancelled')
          reject(exchange.signal.reason)
        })
        mark('waiting')
      }),
    mark: ({ word }) => mark(word),
    marks,
    forget,
  }
}
