// A server in a child process: this file starts itself, and the two processes communicate over stdio.

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { connect, listen } from 'trunkline'

if (process.argv.includes('--serve')) {
  // Standard output now belongs to the protocol; print other text to stderr.
  await listen({ upper: text => text.toUpperCase() }, 'stdio:', { protocol: 'jsonrpc' })
} else {
  const command = process.execPath
  const args = [fileURLToPath(import.meta.url), '--serve']
  const peer = await connect({ command, args }, { protocol: 'jsonrpc' })
  const shout = await peer.call('upper', ['hello'])
  assert.equal(shout, 'HELLO')
  console.log(shout)

  // Ends the child's input, waits for it to exit, and kills it if it does not.
  await peer.close()
}
