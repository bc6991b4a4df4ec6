// node server.js [REVISION|cluster]: serves every feature over HTTP on a free port, prints its address as
// one line, and exits when its input ends. With a revision it serves through a router that speaks that
// revision to its upstream server. With `cluster` it serves three nodes behind a balancer without
// stickiness.

import { memory } from '../../dist/backplane/index.js'
import { sharedTasks } from '../../dist/cluster/index.js'
import * as trunkline from '../../dist/index.js'
import { Router } from '../../dist/router/index.js'
import { everything } from '../fixtures/everything.js'
import { balancer } from '../support/balancer.js'

const [behind] = process.argv.slice(2)
const stepMs = 20
// The suite keeps its connections open and reports one that is closed as a failure: on a busy machine
// it may pause for longer than the default between two requests.
const http = { idleTimeoutMs: 120_000 }

function routed(revision) {
  const server = everything(trunkline, { stepMs, revisions: [revision] })
  return new Router({
    name: 'everything',
    pageSize: 60,
    servers: { everything: { server, prefix: false } },
  })
}

/** Serves one endpoint. Resolves to its address and a function that closes it. */
async function serveOne(served, options = {}) {
  await served.ready?.()
  const listener = await trunkline.listen(served, 'http://127.0.0.1:0/mcp', { http, ...options })
  const close = async () => {
    await listener.close()
    await served.close()
  }
  return { address: listener.address, close }
}

async function serveCluster() {
  const backplane = memory()
  const keys = [crypto.getRandomValues(new Uint8Array(32))]
  const tasks = { store: sharedTasks(backplane) }
  const addresses = []
  const front = await balancer(addresses)
  const { host, port } = new URL(front.address)
  const allowedHosts = [host, `localhost:${port}`]
  const allowedOrigins = allowedHosts.map(each => `http://${each}`)
  const options = { backplane, allowedHosts, allowedOrigins }
  const nodes = await Promise.all(
    [1, 2, 3].map(() => serveOne(everything(trunkline, { stepMs, keys, tasks }), options)),
  )
  addresses.push(...nodes.map(({ address }) => address))
  const close = async () => {
    await front.close()
    await Promise.all(nodes.map(node => node.close()))
    await backplane.close()
  }
  return { address: front.address, close }
}

const serving =
  behind === 'cluster'
    ? await serveCluster()
    : await serveOne(behind === undefined ? everything(trunkline, { stepMs }) : routed(behind))
process.stdout.write(`${serving.address}\n`)
process.stdin.resume().on('end', serving.close)
