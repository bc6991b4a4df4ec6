// One JSON-RPC server on several transports at once; this is what `npm start` runs.
//
//   node examples/demo.js           serves until Ctrl-C
//   node examples/demo.js --once    calls itself over every transport, then leaves

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, listen } from 'trunkline'
import { invalidParams } from 'trunkline/jsonrpc'

const methods = {
  sum: (...numbers) => numbers.reduce((total, number) => total + number, 0),
  subtract: ({ minuend, subtrahend }) => minuend - subtrahend,
  echo: (...values) => values,
  time: () => new Date().toISOString(),
  wait: async ({ ms }, { signal }) => {
    if (!(ms >= 0 && ms <= 60_000)) throw invalidParams('ms is a number from 0 to 60000')
    await sleep(ms, undefined, { signal })
    return `waited ${ms} ms`
  },
}

const once = process.argv.includes('--once')
const folder = await mkdtemp(join(tmpdir(), 'trunkline-'))
const listeners = await listenEverywhere()

if (once) {
  for (const { address } of listeners) await callOnce(address)
  await stop()
} else {
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  greet()
}

async function listenEverywhere() {
  const local =
    process.platform === 'win32' ? `pipe:trunkline-${process.pid}` : `unix:${folder}/sock`
  return [
    await listenNear('tcp://127.0.0.1:', 4000),
    await listenNear('ws://127.0.0.1:', 4001),
    await listen(methods, local, { protocol: 'jsonrpc' }),
  ]
}

/** Listens on a port that is easy to remember, or on any other if that one is taken. */
async function listenNear(address, port) {
  const options = { protocol: 'jsonrpc' }
  if (once) return listen(methods, `${address}0`, options)
  return listen(methods, address + port, options).catch(() =>
    listen(methods, `${address}0`, options),
  )
}

async function callOnce(address) {
  const peer = await connect(address, { protocol: 'jsonrpc' })
  console.log(`${address}  sum [1,2,4] = ${await peer.call('sum', [1, 2, 4])}`)
  await peer.close()
}

function greet() {
  const [tcp, websocket, local] = listeners.map(listener => listener.address)
  console.log(`
Trunkline is listening. The same five methods on every address:

  ${tcp}
  ${websocket}
  ${local}

Try them from another terminal, in this folder:

  node examples/call.js ${tcp} sum '[1, 2, 4]'
  node examples/call.js ${websocket} subtract '{"minuend": 42, "subtrahend": 23}'
  node examples/call.js ${local} echo '["hello"]'
  node examples/call.js ${tcp} time
  node examples/call.js ${tcp} wait '{"ms": 2000}'

Ctrl-C stops it.
`)
}

async function stop() {
  await Promise.all(listeners.map(listener => listener.close()))
  await rm(folder, { recursive: true, force: true })
}
