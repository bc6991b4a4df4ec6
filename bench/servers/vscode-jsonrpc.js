/* node vscode-jsonrpc.js stdio|tcp: frames with Content-Length headers. */
import vscode from 'vscode-jsonrpc/node'
import { methods, serveTcp } from './methods.js'

const [transport] = process.argv.slice(2)
const { createMessageConnection, StreamMessageReader, StreamMessageWriter } = vscode

if (transport === 'stdio') {
  serve(process.stdin, process.stdout)
  process.stdin.on('end', () => process.exit(0))
} else {
  serveTcp(socket => serve(socket, socket))
}

function serve(input, output) {
  const reader = new StreamMessageReader(input)
  const connection = createMessageConnection(reader, new StreamMessageWriter(output))
  for (const [name, method] of Object.entries(methods)) connection.onRequest(name, method)
  connection.listen()
}
