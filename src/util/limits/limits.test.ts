import { expect, test } from 'vitest'
import { authLimits } from './auth.ts'
import { cliLimits } from './cli.ts'
import { clientLimits } from './client.ts'
import { clusterLimits } from './cluster.ts'
import { configLimits } from './config.ts'
import { consoleLimits } from './console.ts'
import { httpLimits } from './http.ts'
import { limits } from './limits.ts'
import { messageLimits } from './messages.ts'
import { observeLimits } from './observe.ts'
import { peerLimits } from './peer.ts'
import { routerLimits } from './router.ts'
import { schemaLimits } from './schema.ts'
import { serverLimits } from './server.ts'
import { transportLimits } from './transport.ts'
import { upstreamLimits } from './upstream.ts'

test('no two areas have a limit of the same name', () => {
  const names = [
    ...[authLimits, cliLimits, clientLimits, clusterLimits, configLimits, httpLimits],
    ...[messageLimits, observeLimits, peerLimits, routerLimits, schemaLimits, serverLimits],
    ...[transportLimits, upstreamLimits, consoleLimits],
  ].flatMap(area => Object.keys(area))
  expect(names.toSorted()).toEqual(Object.keys(limits).toSorted())
})
