import { client } from './limits/client.ts'
import { http } from './limits/http.ts'
import { messages } from './limits/messages.ts'
import { peer } from './limits/peer.ts'
import { server } from './limits/server.ts'
import { transport } from './limits/transport.ts'

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
} as const

export type LimitName = keyof typeof limits
