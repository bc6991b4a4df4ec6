// node refresher.js URL FOLDER TIMES: a program that uses the stored tokens of a server again and again. It prints a
// line when it is ready, and starts with the first line of its input.

import { once } from 'node:events'
import { fileStore, oauth } from '../../dist/auth/index.js'

const [, , url, folder, times] = process.argv
const server = new URL(url)
const credentials = oauth({ store: fileStore(folder) })
console.log('ready')
await once(process.stdin, 'data')
process.stdin.destroy()
for (let at = 0; at < Number(times); at++) {
  const asked = { method: 'POST', url: server, server }
  const request = {}
  for (;;) {
    const sent = await credentials.headers(asked)
    const own = { 'x-process': `${process.pid}` }
    const response = await fetch(server, {
      method: 'POST',
      headers: { ...sent, ...own },
      body: '{}',
    })
    await response.body?.cancel()
    if (response.status === 200) break
    const { status, headers } = response
    const refusal = { ...asked, status, headers, sent, operation: 'ping', request }
    const { signal } = new AbortController()
    await credentials.refused({ ...refusal, address: '127.0.0.1' }, signal)
  }
}
