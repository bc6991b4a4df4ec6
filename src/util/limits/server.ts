import { KiB, type Limit, MiB } from './limit.ts'

/** The limits of a server. */
export const serverLimits = {
  skillFiles: {
    default: 512,
    unit: 'count',
    meaning:
      'Files of one skill, `SKILL.md` included. A skill with more is refused with a TypeError.',
  },
  skillBytes: {
    default: 16_777_216,
    unit: 'bytes',
    meaning: 'All files of one skill together. A larger skill is refused with a TypeError.',
  },
  skillDescription: {
    default: 1024,
    unit: 'characters',
    meaning: 'The description of a skill. A longer one is refused with a TypeError.',
  },
  frontmatterLength: {
    default: 65_536,
    unit: 'characters',
    meaning:
      'The frontmatter of a `SKILL.md`. A longer one is not parsed: the skill is not loaded, and `parseSkill` rejects with a TypeError.',
  },
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
  cachedCalls: {
    default: 1000,
    unit: 'count',
    meaning:
      'Results of tool calls that the middleware `cacheResults` keeps. The least recently used one is dropped.',
  },
  listCursorLength: {
    default: 1024,
    unit: 'count',
    meaning:
      'Characters of the cursor that the list of a resource template returns. A longer one is an internal error, reported to onError.',
  },
  listCalls: {
    default: 100,
    unit: 'count',
    meaning:
      'Calls of the lists of resource templates for one page. Then the page ends, and the rest follows by cursor.',
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
  toolDescriptionLength: {
    default: 10_000,
    unit: 'characters',
    meaning:
      'The description of a tool in the profile `erlmcp`. Registering a longer one throws -32011.',
  },
  callerBytes: {
    default: 8 * KiB,
    unit: 'bytes',
    meaning:
      'Memory that the client info and the capabilities of a session take. Icons are left out first; if it is still more, `initialize` is answered -32602.',
  },
  subscriptions: {
    default: 20_000,
    unit: 'count',
    meaning:
      'Resources to which all sessions and listen streams of one server are subscribed; a URI counts once more for each KiB of its length. A further one is rejected.',
  },
  onceBytes: {
    default: 8 * MiB,
    unit: 'bytes',
    meaning: 'Size of the `ctx.once` results that a process remembers. The oldest are forgotten.',
  },
  taskBytes: {
    default: 16 * MiB,
    unit: 'bytes',
    meaning:
      'Memory that the arguments of all tasks that are not final take; half of it for one caller. A call that would create one more is rejected.',
  },
  finishedTaskBytes: {
    default: 16 * MiB,
    unit: 'bytes',
    meaning:
      'Memory that the results of all final tasks take; half of it for one caller. The oldest tasks are deleted, even before their time.',
  },
  tasks: {
    default: 10_000,
    unit: 'count',
    meaning: 'Tasks of a server that are not final. A call that would create one more is rejected.',
  },
  tasksPerCaller: {
    default: 1000,
    unit: 'count',
    meaning:
      'Tasks that are not final of one principal, of one session, or of one client address without either. A further one is rejected.',
  },
  finishedTasks: {
    default: 10_000,
    unit: 'count',
    meaning: 'Final tasks that a server keeps. The oldest are deleted, even before their time.',
  },
  finishedTasksPerCaller: {
    default: 1000,
    unit: 'count',
    meaning:
      'Final tasks that a server keeps for one principal, for one session, or for one client address without either. The oldest are deleted, even before their time.',
  },
  taskLeaseMs: {
    default: 30_000,
    unit: 'ms',
    meaning:
      'Duration of the lease of a running task, in a store that several processes share. The process that runs the task renews it three times as often. A task whose lease has expired has failed, because its process has ended.',
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
