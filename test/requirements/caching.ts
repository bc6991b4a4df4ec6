import { application, every, sessions, sinceMarch2025, stateless, under } from './table.ts'

/** Pagination, completion, and cache lifetimes of results. */
export const caching = [
  ...under('server/utilities/pagination / Pagination Model', every, [
    { id: 'U6', level: 'MUST', side: 'client', says: 'The client assumes no page size.' },
  ]),
  ...under('server/utilities/pagination / Implementation Guidelines', every, [
    {
      id: 'U6b',
      level: 'SHOULD',
      side: 'server',
      says: 'A cursor stays good while the list does not change.',
    },
    {
      id: 'U6d',
      level: 'SHOULD',
      side: 'client',
      says: 'A result without `nextCursor` is the last page.',
    },
    {
      id: 'U6e',
      level: 'SHOULD',
      side: 'client',
      says: 'Lists with and without pages are read alike.',
    },
    {
      id: 'U6f',
      level: 'MUST',
      side: 'client',
      says: 'Cursors are passed on as they are, neither read nor changed.',
    },
  ]),
  ...under('server/utilities/pagination / Implementation Guidelines', sessions, [
    { id: 'U6g', level: 'MUST', side: 'client', says: 'Cursors are not kept beyond a session.' },
  ]),
  ...under('server/utilities/pagination / Implementation Guidelines', stateless, [
    {
      id: 'U6h',
      level: 'MUST',
      side: 'client',
      says: 'An empty string is a cursor and not the end.',
    },
  ]),
  ...under('server/utilities/pagination / Error Handling', every, [
    {
      id: 'U6c',
      level: 'SHOULD',
      side: 'server',
      says: 'A cursor that is not good is answered with -32602.',
    },
  ]),
  ...under('server/utilities/completion / Capabilities', sinceMarch2025, [
    {
      id: 'U9',
      level: 'MUST',
      side: 'server',
      says: 'A server that completes declares the capability `completions`.',
    },
  ]),
  ...under('server/utilities/completion / Completion Results', every, [
    { id: 'U9b', level: 'MUST', side: 'server', says: 'A completion has at most 100 values.' },
  ]),
  ...under('server/utilities/completion / Error Handling', sinceMarch2025, [
    {
      id: 'U9c',
      level: 'SHOULD',
      side: 'server',
      says: 'Without the capability `completion/complete` is answered with -32601.',
    },
    {
      id: 'U9d',
      level: 'SHOULD',
      side: 'server',
      says: 'Completing for a prompt that does not exist, or without what is required, is answered with -32602.',
    },
    {
      id: 'U9f',
      level: 'SHOULD',
      side: 'server',
      says: 'A completion that fails within the server is answered with -32603.',
    },
  ]),
  ...under('server/utilities/completion / Implementation Considerations', every, [
    {
      id: 'U9g',
      level: 'SHOULD',
      side: 'server',
      says: 'The values come in the order that the completion gave them, the best first.',
    },
    {
      id: 'U9h',
      level: 'SHOULD',
      side: 'server',
      says: 'Matching is fuzzy where that helps.',
      beyond: application,
    },
    {
      id: 'U9l',
      level: 'SHOULD',
      side: 'client',
      says: 'Completions are not asked for at every key, and are cached where that helps.',
      beyond: application,
    },
    {
      id: 'U9m',
      level: 'SHOULD',
      side: 'client',
      says: 'Completions without a total, or with fewer values than that, are taken as they are.',
    },
  ]),
  ...under('server/utilities/completion / Security', every, [
    {
      id: 'U9i',
      level: 'MUST',
      side: 'server',
      says: 'The number of completions in a time can be limited.',
    },
    {
      id: 'U9j',
      level: 'MUST',
      side: 'server',
      says: 'What a completion is asked with is validated.',
    },
    {
      id: 'U9k',
      level: 'MUST',
      side: 'server',
      says: 'Completions give nothing away that the caller may not see.',
      beyond: application,
    },
  ]),
  ...under('server/utilities/caching / Cacheable Results', stateless, [
    {
      id: 'U10',
      level: 'MUST',
      side: 'server',
      says: 'Complete results of discovery, of the four lists and of `resources/read` have `ttlMs` and `cacheScope`.',
    },
    { id: 'U10c', level: 'MUST', side: 'server', says: 'Results that ask for input have neither.' },
  ]),
  ...under('server/utilities/caching / Time-to-Live (TTL) Field', stateless, [
    {
      id: 'U10b',
      level: 'MUST',
      side: 'server',
      says: 'The value of `ttlMs` is an integer that is not negative.',
    },
    {
      id: 'U11d',
      level: 'SHOULD',
      side: 'client',
      says: 'A result whose `ttlMs` is 0, negative or missing is stale at once.',
    },
    {
      id: 'U11e',
      level: 'SHOULD',
      side: 'client',
      says: 'A result with a positive `ttlMs` is fresh for so long, and fetched again when it is needed after that.',
    },
  ]),
  ...under('server/utilities/caching / Freshness Calculation', stateless, [
    {
      id: 'U11i',
      level: 'SHOULD',
      side: 'client',
      says: 'A result that gets stale is not fetched again by itself.',
    },
    {
      id: 'U11j',
      level: 'MUST',
      side: 'client',
      says: 'A client polls with jitter and backoff.',
      beyond: application,
    },
  ]),
  ...under('server/utilities/caching / Interaction with Pagination', stateless, [
    {
      id: 'U10d',
      level: 'MUST',
      side: 'server',
      says: 'All pages of a list have the same `cacheScope`.',
    },
    {
      id: 'U11l',
      level: 'SHOULD',
      side: 'client',
      says: 'A page that is stale is fetched again with its cursor.',
    },
    {
      id: 'U11m',
      level: 'SHOULD',
      side: 'client',
      says: 'A client that needs a consistent list reads it again from the first page.',
    },
    {
      id: 'U11n',
      level: 'SHOULD',
      side: 'client',
      says: 'When a cursor is refused, all pages are dropped and read from the beginning.',
    },
  ]),
  ...under('server/utilities/caching / Cache Key', stateless, [
    {
      id: 'U11',
      level: 'MUST',
      side: 'client',
      says: 'A cached result serves only requests of the same method and parameters.',
    },
    {
      id: 'U11b',
      level: 'MUST',
      side: 'client',
      says: 'Results of requests that carried answers or state are not cached.',
    },
  ]),
  ...under('server/utilities/caching / Cache Scope Field', stateless, [
    {
      id: 'U11c',
      level: 'MUST',
      side: 'client',
      says: 'A private result is not shared between authorization contexts.',
    },
  ]),
  ...under('server/utilities/caching / Interaction with Notifications', stateless, [
    {
      id: 'U11k',
      level: 'SHOULD',
      side: 'client',
      says: 'A notification of a change makes the cached result stale.',
    },
  ]),
  ...under('server/utilities/caching / Security Considerations', stateless, [
    {
      id: 'U10e',
      level: 'MUST',
      side: 'server',
      says: 'What is public may be shown to anyone, and access is controlled by other means than `cacheScope`.',
      beyond: application,
    },
  ]),
]
