// Two instances of one program behind a router. One is killed in the middle of its calls: those that
// do no harm twice are made again at the other, those that may have been carried out are not; further
// calls go on as if nothing had happened, and the one that was killed is started again.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect } from 'trunkline'
import { Router } from 'trunkline/router'

const program = fileURLToPath(new URL('worker-server.js', import.meta.url))
const router = new Router({
  servers: {
    worker: {
      command: process.execPath,
      args: [program],
      instances: 2,
      balance: 'round-robin',
      // What a tool says of itself counts only where its server is trusted: this is our own word.
      retry: { tools: ['look'] },
    },
  },
})
await router.ready()
const client = await connect(router)
const look = async () => Number((await client.call('worker__look')).text)

const before = new Set(await Promise.all([look(), look(), look(), look()]))
assert.equal(before.size, 2)
console.log(`answered by ${[...before].join(' and ')}`)

/** Calls a tool and kills whoever begins to carry it out. */
async function killDuring(tool) {
  let killed = 0
  const onProgress = ({ message }) => {
    if (killed !== 0) return
    killed = Number.parseInt(message, 10)
    process.kill(killed, 'SIGKILL')
  }
  const [outcome] = await Promise.allSettled([client.call(tool, {}, { onProgress })])
  return { killed, ...outcome }
}

// Nobody knows how far it had come. The caller is told so, and decides.
const worked = await killDuring('worker__work')
assert.equal(worked.reason.code, -32008)
assert.equal(worked.reason.data.outcome, 'unknown')
console.log(`work: ${worked.reason.message}`)

// The other one goes on, while the killed one is started again.
const meanwhile = await Promise.all(Array.from({ length: 8 }, look))
assert.ok(!meanwhile.includes(worked.killed))
while (router.server('worker').level !== 'ok') await sleep(20)
const { instances } = router.server('worker')
assert.equal(instances.flatMap(({ pids }) => pids).length, 2)
console.log(`${worked.killed} was started again, restarts: ${instances.map(i => i.restarts)}`)

// Looking twice harms nobody: the caller notices nothing but the time.
const looked = await killDuring('worker__look')
assert.equal(looked.status, 'fulfilled')
assert.notEqual(Number(looked.value.text), looked.killed)
console.log(`look: begun by ${looked.killed}, answered by ${looked.value.text}`)

await client.close()
await router.close()
