/*
 * node cycles.js N: creates a router before a program, listens, calls and closes everything, N times.
 * Prints the programs that were started and what is still open, and exits when nothing is left to wait for.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect, listen } from '../../dist/index.js'
import { Router } from '../../dist/router/index.js'

const program = fileURLToPath(new URL('worker.js', import.meta.url))
const pids = []

function childrenOf(parent) {
  return readdirSync('/proc').filter(name => {
    if (!/^\d+$/.test(name)) return false
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] === String(parent)
    } catch {
      return false
    }
  })
}

async function cycle() {
  const args = [program, '{"grandchild":true}']
  const router = new Router({ servers: { work: { command: process.execPath, args } } })
  const listener = await listen(router, 'http://127.0.0.1:0/mcp')
  const client = await connect(listener.address)
  const { text } = await client.call('work__work', { nonce: 'a' })
  if (text !== 'a') throw new Error(`answered with ${text}`)
  const [pid] = router.server('work').instances[0].pids
  pids.push(pid, ...childrenOf(pid).map(Number))
  await client.close()
  await listener.close()
  await router.close()
}

const many = Number(process.argv[2])
for (let turn = 0; turn < many; turn += 5) {
  await Promise.all(Array.from({ length: Math.min(5, many - turn) }, cycle))
}
// An exited program is released within the next turns of the event loop, and the timer that deadlines
// share after some idle milliseconds. On a busy machine too, a shorter timer fires before a longer one.
for (let turn = 0; turn < 10 && open().length > 0; turn++) await pause(50)
process.stdout.write(JSON.stringify({ pids, resources: open() }))

/** Our own output is a pipe and stays open. */
function open() {
  return process.getActiveResourcesInfo().filter(name => name !== 'PipeWrap')
}
