import { idleMs } from './http-listen.js'
import { methods } from './methods.js'

/** Above any number of clients in a run: the benchmark measures cost, not admission. */
export const most = 50_000

/** Listens with a Node server on a free loopback port, and executes commands of the parent process. */
export function listenCrowd(server, change) {
  server.keepAliveTimeout = idleMs
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
    obey(server.address().port, change),
  )
}

/**
 * Reports the port to the parent process and executes its commands, one word per line: `change` makes a
 * change that clients are notified of; `usage` and `collected` report the resource usage, the latter
 * after garbage collection. Exits when stdin closes.
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

/** Collects several times, because finalizers run one turn later. */
async function settled() {
  for (let time = 0; time < 3; time++) {
    globalThis.gc()
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  globalThis.gc()
}
