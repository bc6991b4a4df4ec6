import { cli } from './limits/cli.ts'
import { client } from './limits/client.ts'
import { config } from './limits/config.ts'
import { http } from './limits/http.ts'
import { messages } from './limits/messages.ts'
import { observe } from './limits/observe.ts'
import { peer } from './limits/peer.ts'
import { router } from './limits/router.ts'
import { server } from './limits/server.ts'
import { transport } from './limits/transport.ts'
import { upstream } from './limits/upstream.ts'

/**
 * Every limit of the product: its name, default, unit and what happens when it is reached.
 * `docs/limits.md` shows this table and is checked against it.
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
