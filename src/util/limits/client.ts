import type { Limit } from './limit.ts'

/** Limits of clients. */
export const clientLimits = {
  callTotalMs: {
    default: 900_000,
    unit: 'ms',
    meaning:
      'Total time of one call of a client, however often progress or server requests extend its timeout. Then it rejects with the code "timeout".',
  },
  discoverTimeoutMs: {
    default: 3000,
    unit: 'ms',
    meaning:
      'Time to wait for the response to `server/discover`. Then the client sends `initialize`.',
  },
  versionCacheEntries: {
    default: 1000,
    unit: 'count',
    meaning: 'Servers in the version cache of a process. The oldest entry is dropped.',
  },
  versionCacheMs: {
    default: 86_400_000,
    unit: 'ms',
    meaning:
      'Time that the version cache keeps a server as one with sessions. Then the client probes again.',
  },
  pages: {
    default: 1000,
    unit: 'count',
    meaning: 'Pages of one list that a client fetches. The next one rejects with "too-many".',
  },
  cacheEntries: {
    default: 256,
    unit: 'count',
    meaning: 'Results in the cache of a client. The oldest are dropped first.',
  },
  cacheCharacters: {
    default: 16_777_216,
    unit: 'characters',
    meaning: 'Size of all results in the cache of a client, as JSON. The oldest are dropped first.',
  },
  changes: {
    default: 1024,
    unit: 'count',
    meaning:
      'Changes of a subscription that have not been read. The oldest are dropped, and `lagged` has their number.',
  },
  reconnects: {
    default: 5,
    unit: 'count',
    meaning: 'Attempts of a client to reconnect. Then it closes.',
  },
  reconnectMs: {
    default: 1000,
    unit: 'ms',
    meaning:
      'Longest wait before the second attempt to reconnect; doubled before each further one.',
  },
  reconnectMaxMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Longest wait before any attempt to reconnect.',
  },
  stableMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Time that a connection must stay open before the attempts are counted from 0 again.',
  },
  taskPollMs: {
    default: 1000,
    unit: 'ms',
    meaning: 'Poll interval of a task whose server suggests none.',
  },
  taskPollMinMs: {
    default: 100,
    unit: 'ms',
    meaning: 'Shortest poll interval of a task, even if its server suggests less.',
  },
  heartbeatMs: {
    default: 0,
    unit: 'ms',
    meaning: 'Interval at which a client pings the server of its session; 0 never pings.',
  },
  heartbeatWaitMs: {
    default: 30_000,
    unit: 'ms',
    meaning: 'Time to wait for the response to such a ping. Then the connection counts as lost.',
  },
  outputSchemas: {
    default: 1024,
    unit: 'count',
    meaning:
      'Listed tools whose output schema and task support a client keeps. The oldest are dropped.',
  },
  serverRequestTasks: {
    default: 64,
    unit: 'count',
    meaning: 'Server requests of one server that a client runs as tasks. A further one is refused.',
  },
  serverRequestTaskMs: {
    default: 3_600_000,
    unit: 'ms',
    meaning:
      'Longest time that a client keeps the result of such a task, even if its server requests more.',
  },
} as const satisfies Record<string, Limit>
