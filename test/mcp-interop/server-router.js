// node server-router.js UPSTREAM [--http 0]: a router that looks like the fixture, before a server that
// UPSTREAM describes, the upstream options as JSON.

import { serve } from '../../dist/index.js'
import { Router } from '../../dist/router/index.js'
import { info, instructions, pageSize } from './surface.js'

const [upstream, ...args] = process.argv.slice(2)
const router = new Router({
  ...info,
  instructions,
  pageSize,
  // A short timeout, so that concurrent ambiguous server requests are refused soon.
  attributionTimeoutMs: 500,
  servers: { fixture: { prefix: false, ...JSON.parse(upstream) } },
})
await serve(router, { argv: args })
