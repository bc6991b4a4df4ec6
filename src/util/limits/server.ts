import type { Limit } from './limit.ts'

/** What a server does for its clients. */
export const server = {
  inputRounds: {
    default: 10,
    unit: 'count',
    meaning: 'Rounds of questions in one stateless request. The next one is answered -32603.',
  },
  questionMs: {
    default: 600_000,
    unit: 'ms',
    meaning:
      'Time a client has to answer a question of a server. Then the call of the question rejects with the code "timeout", or a stateless retry is answered -32602.',
  },
  sealedLength: {
    default: 1_048_576,
    unit: 'characters',
    meaning:
      'What a client keeps for a stateless server between two rounds. More is an internal error; what comes back longer is answered -32602.',
  },
  onceRequests: {
    default: 1000,
    unit: 'count',
    meaning:
      'Stateless requests in several rounds whose `ctx.once` a process remembers, in case a round is sent twice. The oldest is forgotten.',
  },
  urlElicitations: {
    default: 256,
    unit: 'count',
    meaning:
      'Questions by URL of one session whose end it can be told. The oldest is forgotten, and its end not told.',
  },
  pageSize: {
    default: 500,
    unit: 'count',
    meaning: 'Entries on one page of a list. The rest follows by cursor.',
  },
  completionValues: {
    default: 100,
    unit: 'count',
    meaning: 'Values of one completion. More are left out, and `hasMore` says so.',
  },
  listens: {
    default: 64,
    unit: 'count',
    meaning: 'Listen streams of one connection at once. A further one is answered -32602.',
  },
  subscribedUris: {
    default: 1024,
    unit: 'count',
    meaning: 'Resources one session or listen stream is subscribed to. A further one is refused.',
  },
  progressBurst: {
    default: 100,
    unit: 'count',
    meaning:
      'Progress notifications of one request in a row. Then they come as `progressPerSecond` says.',
  },
  progressPerSecond: {
    default: 20,
    unit: 'count',
    meaning: 'Progress notifications of one request in a second, after a burst. More are left out.',
  },
  logBurst: {
    default: 1000,
    unit: 'count',
    meaning: 'Log messages of one request in a row. Then they come as `logPerSecond` says.',
  },
  logPerSecond: {
    default: 100,
    unit: 'count',
    meaning: 'Log messages of one request in a second, after a burst. More are left out.',
  },
  rateLimitedCallers: {
    default: 10_000,
    unit: 'count',
    meaning: 'Callers whose rates one limiter keeps. The one heard of longest ago starts anew.',
  },
  tasks: {
    default: 10_000,
    unit: 'count',
    meaning: 'Tasks a server keeps altogether. A call that would make one more is refused.',
  },
  tasksPerCaller: {
    default: 1000,
    unit: 'count',
    meaning:
      'Tasks a server keeps for one principal, session, or all callers that are neither. A further one is refused.',
  },
  taskTtlMs: {
    default: 3_600_000,
    unit: 'ms',
    meaning: 'Time a server keeps a task from its creation, where its caller names none.',
  },
  taskTtlMaxMs: {
    default: 86_400_000,
    unit: 'ms',
    meaning: 'Longest time a server keeps a task, whatever its caller wishes.',
  },
  taskMessage: {
    default: 1024,
    unit: 'characters',
    meaning: 'The status of a task in words. The rest is left out.',
  },
  listenedTasks: {
    default: 1024,
    unit: 'count',
    meaning: 'Tasks that one listen stream is told of. A request for more is refused.',
  },
} as const satisfies Record<string, Limit>
