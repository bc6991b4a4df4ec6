import { ResponseError } from 'vscode-jsonrpc/node'
import { answers, fault } from './answers.js'

/** Registers the methods on a connection of vscode-jsonrpc and starts it. */
export function serveVscode(connection) {
  const { add, greet, echo, nothing, mark, marks, forget } = answers()
  connection.onRequest('add', add)
  connection.onRequest('greet', ({ name }) => greet(name))
  connection.onRequest('echo', ({ value }) => echo(value))
  connection.onRequest('nothing', nothing)
  connection.onRequest('fail', () => new ResponseError(fault.code, fault.message, fault.data))
  connection.onRequest(
    'wait',
    (_params, token) =>
      new Promise(resolve => {
        token.onCancellationRequested(() => {
          mark('cancelled')
          resolve(null)
        })
        mark('waiting')
      }),
  )
  connection.onNotification('mark', ({ word }) => mark(word))
  connection.onNotification('forget', forget)
  connection.onRequest('marks', marks)
  connection.listen()
}
