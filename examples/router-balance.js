// Two instances of one program behind a router. One of them is killed during a call. The router retries
// the call on the other instance if that is safe, and otherwise reports that the outcome is unknown.
// Further calls succeed, and the router restarts the killed instance.

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
      // Tool annotations count only if the server is trusted. This option marks the tool as safe to retry.
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

/** Calls a tool and kills the instance that starts to run it. */
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

// The call may have executed. The caller gets that information and decides.
const worked = await killDuring('worker__work')
assert.equal(worked.reason.code, -32008)
assert.equal(worked.reason.data.outcome, 'unknown')
console.log(`work: ${worked.reason.message}`)

// The other instance serves calls while the killed one restarts.
const meanwhile = await Promise.all(Array.from({ length: 8 }, look))
assert.ok(!meanwhile.includes(worked.killed))
while (router.server('worker').level !== 'ok') await sleep(20)
const { instances } = router.server('worker')
assert.equal(instances.flatMap(({ pids }) => pids).length, 2)
console.log(`${worked.killed} was restarted, restarts: ${instances.map(i => i.restarts)}`)

// This tool is safe to retry: the caller only notices the delay.
const looked = await killDuring('worker__look')
assert.equal(looked.status, 'fulfilled')
assert.notEqual(Number(looked.value.text), looked.killed)
console.log(`look: started by ${looked.killed}, answered by ${looked.value.text}`)

await client.close()
await router.close()
