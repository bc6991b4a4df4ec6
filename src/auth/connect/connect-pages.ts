import type { ConnectPages } from '../../mcp/callers/connect-pages.ts'
import { checkOptions, type OptionTableOf } from '../../util/options.ts'
import { checkAddress } from '../client/options.ts'
import { GrantPages } from './grant-pages.ts'
import type { ConnectPagesOptions } from './pages-options.ts'

const table: OptionTableOf<ConnectPagesOptions> = {
  url: 'string',
  login: { issuer: 'string', clientId: 'string', clientSecret: 'string' },
  keys: 'any',
  store: 'object',
  ticketMs: 'ms',
}

/**
 * Makes the pages on which users allow a router to act for them at servers behind it. Give it to `userGrants` of those
 * servers, and to `listen`, `nodeHandler` or `fetchHandler` as `pages`. Throws a TypeError for invalid options.
 */
export function connectPages(options: ConnectPagesOptions = {}): ConnectPages {
  checkOptions(options, table)
  checkAddress('url', options.url)
  return new GrantPages(options)
}
