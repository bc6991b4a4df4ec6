import { authLimits } from './auth.ts'
import { cliLimits } from './cli.ts'
import { clientLimits } from './client.ts'
import { clusterLimits } from './cluster.ts'
import { configLimits } from './config.ts'
import { consoleLimits } from './console.ts'
import { httpLimits } from './http.ts'
import { messageLimits } from './messages.ts'
import { observeLimits } from './observe.ts'
import { peerLimits } from './peer.ts'
import { routerLimits } from './router.ts'
import { schemaLimits } from './schema.ts'
import { serverLimits } from './server.ts'
import { transportLimits } from './transport.ts'
import { upstreamLimits } from './upstream.ts'

/**
 * Every limit of Trunkline: its name, default, unit and what happens when it is reached. `docs/limits.md` is
 * generated from this table.
 */
export const limits = {
  ...messageLimits,
  ...peerLimits,
  ...schemaLimits,
  ...transportLimits,
  ...serverLimits,
  ...clientLimits,
  ...httpLimits,
  ...authLimits,
  ...routerLimits,
  ...configLimits,
  ...observeLimits,
  ...cliLimits,
  ...consoleLimits,
  ...upstreamLimits,
  ...clusterLimits,
} as const
