// node server.js [REVISION]: serves every feature over HTTP on a free port, prints its address as one
// line, and exits when its input ends. With a revision it serves through a router that speaks that
// revision to its upstream server.

import * as trunkline from '../../dist/index.js'
import { Router } from '../../dist/router/index.js'
import { everything } from '../fixtures/everything.js'

const [behind] = process.argv.slice(2)
const stepMs = 20

function routed(revision) {
  const server = everything(trunkline, { stepMs, revisions: [revision] })
  return new Router({
    name: 'everything',
    pageSize: 60,
    servers: { everything: { server, prefix: false } },
  })
}

const served = behind === undefined ? everything(trunkline, { stepMs }) : routed(behind)
await served.ready?.()
// The suite keeps its connections open and reports one that is closed as a failure: on a busy machine
// it may pause for longer than the default between two requests.
const http = { idleTimeoutMs: 120_000 }
const listener = await trunkline.listen(served, 'http://127.0.0.1:0/mcp', { http })
process.stdout.write(`${listener.address}\n`)

process.stdin.resume().on('end', async () => {
  await listener.close()
  await served.close()
})
