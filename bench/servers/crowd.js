import { idleMs } from './http-listen.js'
import { methods } from './methods.js'

/** More than any run opens: what is measured is what a client costs, not how many are let in. */
export const most = 50_000

/** Puts a Node server on a free port of the loopback, and obeys the parent. */
export function listenCrowd(server, change) {
  server.keepAliveTimeout = idleMs
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
    obey(server.address().port, change),
  )
}

/**
 * Tells the parent the port, and does what it writes, a word per line: `change` makes a change that
 * clients are told of, `usage` and `collected` tell what the process uses, the latter after collecting
 * garbage. Ends with its input.
 */
export function obey(port, change) {
  const tell = text => process.stdout.write(`${text}\n`)
  const orders = new Map([
    ['change', change],
    ['usage', () => tell(JSON.stringify(methods.usage()))],
    ['collected', () => settled().then(() => tell(JSON.stringify(methods.usage())))],
  ])
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', text => {
    for (const word of text.split('\n')) orders.get(word)?.()
  })
  process.stdin.on('end', () => process.exit(0))
  tell(port)
}

/** What is cleaned up a turn later, as finalisers are, needs several collections. */
async function settled() {
  for (let time = 0; time < 3; time++) {
    globalThis.gc()
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  globalThis.gc()
}
