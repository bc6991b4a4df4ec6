// node server-router.js UPSTREAM [--http 0]: a router that seems to be the fixture, before one that is
// reached as UPSTREAM says, the options of a server of a router as JSON.

import { serve } from '../../dist/index.js'
import { Router } from '../../dist/router/index.js'
import { info, instructions, pageSize } from './surface.js'

const [upstream, ...args] = process.argv.slice(2)
const router = new Router({
  ...info,
  instructions,
  pageSize,
  // Where calls that ask at the same time cannot be told apart, that shall be known soon.
  attributionTimeoutMs: 500,
  servers: { fixture: { prefix: false, ...JSON.parse(upstream) } },
})
await serve(router, { argv: args })
