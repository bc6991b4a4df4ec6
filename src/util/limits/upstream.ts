import type { Limit } from './limit.ts'

/** Limits of the connections from a router to its upstream servers. */
export const upstreamLimits = {
  upstreamConnectMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Timeout for connecting to an upstream server, and for reading each of its lists. Then the attempt has failed.',
  },
  processConnectMs: {
    default: 60_000,
    unit: 'ms',
    meaning:
      'Timeout for starting a server process and connecting to it. It is longer than `upstreamConnectMs` because the package may have to be downloaded first, as by `npx`.',
  },
  upstreamCallMs: {
    default: 300_000,
    unit: 'ms',
    meaning:
      'Time a call through a router waits for a response or progress from its server. Then the call is answered -32009 and cancelled upstream.',
  },
  upstreamWaitMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time a call through a router waits for a server that is being restarted, unless `startWaitMs` is configured. Then the call is answered -32000. A server that starts for the first time is waited for as long as it may take to connect, by calls and by lists.',
  },
  startingRetryMs: {
    default: 2000,
    unit: 'ms',
    meaning: 'Retry delay suggested to a caller whose server is still starting.',
  },
  listChangesMs: {
    default: 100,
    unit: 'ms',
    meaning:
      'Pause between two reads of a list by a router. Changes that a server announces meanwhile are read together.',
  },
  subscribeWaitMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time a subscription of a caller waits until the upstream server has confirmed it. Then the router acknowledges it, and sends one update of each resource as soon as the server has confirmed it.',
  },
  rememberedServers: {
    default: 500,
    unit: 'count',
    meaning:
      'Servers whose lists are remembered between runs. Beyond that, the least recently used one is dropped.',
  },
  rememberedStartMs: {
    default: 250,
    unit: 'ms',
    meaning:
      'Time after which a router starts a process whose lists it remembers, unless a caller uses it before. Until then it answers first lists, undisturbed by programs that start.',
  },
  listRetryMs: {
    default: 30_000,
    unit: 'ms',
    meaning:
      'Delay before a router retries reading a list that failed. Until then that list is left out.',
  },
  upstreamGraceMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time a server may be unavailable before a router hides its tools, prompts and resources, so that callers do not see short outages.',
  },
  upstreamEntries: {
    default: 20_000,
    unit: 'count',
    meaning:
      'Entries that a router reads from one list of an upstream server. Further entries are not read.',
  },
  upstreamConnections: {
    default: 64,
    unit: 'count',
    meaning:
      'Connections to one instance of a server at one time, in addition to its first. A caller that needs another one is answered -32000.',
  },
  callerConnections: {
    default: 1000,
    unit: 'count',
    meaning:
      'Connections to one instance of a server at one time, where each caller has credentials of its own. A caller that needs another one is answered -32000.',
  },
  principalLists: {
    default: 1000,
    unit: 'count',
    meaning:
      'Callers whose lists a router keeps, for servers that list other entries to each caller. The least recently used lists are read anew.',
  },
  principalListsMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'How long a router keeps such lists. Then they are read anew.',
  },
  upstreamIdleMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Idle time after which such an additional connection is closed.',
  },
  healthIntervalMs: {
    default: 15_000,
    unit: 'ms',
    meaning: 'Interval between health checks of an upstream instance.',
  },
  healthTimeoutMs: {
    default: 5000,
    unit: 'ms',
    meaning: 'Time an instance has to respond to a health check.',
  },
  healthFailures: {
    default: 3,
    unit: 'count',
    meaning:
      'Consecutive failed health checks after which an instance is reconnected or restarted.',
  },
  callerProfiles: {
    default: 256,
    unit: 'count',
    meaning:
      'Distinct combinations of caller capabilities for which a router caches the request metadata sent to stateless servers. Beyond that, the cache is cleared.',
  },
  parkedMs: {
    default: 300_000,
    unit: 'ms',
    meaning:
      'Time a call of a stateless caller stays parked for the response to a server request. Then the call is cancelled, and a later response is rejected with -32602.',
  },
  parkedCalls: {
    default: 1000,
    unit: 'count',
    meaning:
      'Calls parked at one time. Beyond that, the oldest parked call is cancelled, and a later response to it is rejected with -32602.',
  },
  attributionTimeoutMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time a server request that could belong to several callers waits to be attributed to one of them. Then it is rejected.',
  },
  ambiguousRequests: {
    default: 64,
    unit: 'count',
    meaning:
      'Server requests waiting for attribution on one connection. A further one is rejected immediately.',
  },
  abandonedMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time an abandoned call without a response remains a candidate for the server requests of a session-based server. Until then its server requests reach no other caller.',
  },
  abandonedCalls: {
    default: 256,
    unit: 'count',
    meaning:
      'Abandoned calls that one connection tracks. Beyond that, the oldest remains a candidate for all of `abandonedMs`, whether or not a response arrives.',
  },
} as const satisfies Record<string, Limit>
