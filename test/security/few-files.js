// Serves over HTTP. For each line of input it opens files and a process, and prints whether that worked and
// the errors of the listener so far.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { listen, Server } from '../../dist/index.js'

const errors = []
const server = new Server({ name: 'few-files', version: '1' })
const onError = error => errors.push(error.message)
const { address } = await listen(server, 'http://127.0.0.1:0/mcp', { onError })
console.log(address)
for await (const _ of createInterface({ input: process.stdin })) {
  readFileSync(new URL(import.meta.url))
  const { status } = spawnSync(process.execPath, ['--version'])
  console.log(JSON.stringify({ status, errors, open: readdirSync('/proc/self/fd').length }))
}
process.exit(0)
