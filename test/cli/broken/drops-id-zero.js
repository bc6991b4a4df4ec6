// Tests ids for truthiness.

import { createInterface } from 'node:readline'
import { answerOf } from './stdio.js'

createInterface({ input: process.stdin })
  .on('line', line => {
    let answer
    try {
      const message = JSON.parse(line)
      if (message.id || message.id === undefined) answer = answerOf(message)
    } catch {
      answer = { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } }
    }
    if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`)
  })
  .on('close', () => process.exit(0))
