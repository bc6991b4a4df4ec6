// Responds to notifications.

import { createInterface } from 'node:readline'
import { answerOf } from './stdio.js'

createInterface({ input: process.stdin })
  .on('line', line => {
    let answer = { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } }
    try {
      const message = JSON.parse(line)
      answer = answerOf(message) ?? { jsonrpc: '2.0', id: null, result: {} }
    } catch {}
    process.stdout.write(`${JSON.stringify(answer)}\n`)
  })
  .on('close', () => process.exit(0))
