import { cli } from './cli.ts'
import { client } from './client.ts'
import { config } from './config.ts'
import { http } from './http.ts'
import { messages } from './messages.ts'
import { observe } from './observe.ts'
import { peer } from './peer.ts'
import { router } from './router.ts'
import { server } from './server.ts'
import { transport } from './transport.ts'
import { upstream } from './upstream.ts'

/**
 * Every limit of Trunkline: its name, default, unit and what happens when it is reached. `docs/limits.md` is
 * generated from this table.
 */
export const limits = {
  ...messages,
  ...peer,
  ...transport,
  ...server,
  ...client,
  ...http,
  ...router,
  ...config,
  ...observe,
  ...cli,
  ...upstream,
} as const
