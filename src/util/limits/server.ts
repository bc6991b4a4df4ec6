import type { Limit } from './limit.ts'

/** The limits of a server. */
export const server = {
  inputRounds: {
    default: 10,
    unit: 'count',
    meaning: 'Rounds of input requests in one stateless request. The next one is answered -32603.',
  },
  serverRequestMs: {
    default: 600_000,
    unit: 'ms',
    meaning:
      'Time a client has to answer a request of a server. Then the request rejects with the code "timeout", or a stateless retry is answered -32602.',
  },
  sealedLength: {
    default: 1_048_576,
    unit: 'characters',
    meaning:
      'The state that a client keeps for a stateless server between two rounds. A longer one is an internal error; one that a client sends is answered -32602.',
  },
  onceRequests: {
    default: 1000,
    unit: 'count',
    meaning:
      'Stateless requests in several rounds whose `ctx.once` results a process remembers, in case a round is sent twice. The oldest is forgotten.',
  },
  urlElicitations: {
    default: 256,
    unit: 'count',
    meaning:
      'URL elicitations of one session that can still be completed. The oldest is forgotten, and its completion is not sent.',
  },
  pageSize: {
    default: 500,
    unit: 'count',
    meaning: 'Entries on one page of a list. The rest follows by cursor.',
  },
  completionValues: {
    default: 100,
    unit: 'count',
    meaning: 'Values of one completion. More are left out, and `hasMore` is true.',
  },
  listenStreams: {
    default: 64,
    unit: 'count',
    meaning: 'Listen streams of one connection at once. A further one is answered -32602.',
  },
  subscribedUris: {
    default: 1024,
    unit: 'count',
    meaning: 'Resources one session or listen stream is subscribed to. A further one is rejected.',
  },
  progressBurst: {
    default: 100,
    unit: 'count',
    meaning:
      'Progress notifications of one request in a row. After that `progressPerSecond` applies.',
  },
  progressPerSecond: {
    default: 20,
    unit: 'count',
    meaning: 'Progress notifications of one request per second, after a burst. More are dropped.',
  },
  logBurst: {
    default: 1000,
    unit: 'count',
    meaning: 'Log messages of one request in a row. After that `logPerSecond` applies.',
  },
  logPerSecond: {
    default: 100,
    unit: 'count',
    meaning: 'Log messages of one request per second, after a burst. More are dropped.',
  },
  rateLimitedCallers: {
    default: 10_000,
    unit: 'count',
    meaning: 'Callers with a rate of their own in one rate limiter. The least recent one is reset.',
  },
  tasks: {
    default: 10_000,
    unit: 'count',
    meaning: 'Tasks a server keeps in total. A call that would create one more is rejected.',
  },
  tasksPerCaller: {
    default: 1000,
    unit: 'count',
    meaning:
      'Tasks a server keeps for one principal, one session, or all callers with neither. A further one is rejected.',
  },
  taskTtlMs: {
    default: 3_600_000,
    unit: 'ms',
    meaning: 'Time a server keeps a task from its creation, where its caller names none.',
  },
  taskTtlMaxMs: {
    default: 86_400_000,
    unit: 'ms',
    meaning: 'Longest time a server keeps a task, even if its caller asks for more.',
  },
  taskMessageLength: {
    default: 1024,
    unit: 'characters',
    meaning: 'The status message of a task. The rest is cut off.',
  },
  listenStreamTasks: {
    default: 1024,
    unit: 'count',
    meaning: 'Tasks that one listen stream follows. A request for more is answered -32602.',
  },
} as const satisfies Record<string, Limit>
