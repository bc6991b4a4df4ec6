import type { Limit } from './limit.ts'

/** What a client does, and for how long. */
export const client = {
  callTotalMs: {
    default: 900_000,
    unit: 'ms',
    meaning:
      'One call of a client altogether, however often its progress or its questions give it more time. It rejects with the code "timeout".',
  },
  probeMs: {
    default: 3000,
    unit: 'ms',
    meaning:
      'Waiting for the answer to `server/discover`. Then the server is opened by `initialize`.',
  },
  verdicts: {
    default: 1000,
    unit: 'count',
    meaning: 'Servers of which a process remembers what they speak. The oldest is forgotten.',
  },
  verdictMs: {
    default: 86_400_000,
    unit: 'ms',
    meaning: 'Time a server is remembered as one with sessions. Then it is asked again.',
  },
  pages: {
    default: 1000,
    unit: 'count',
    meaning: 'Pages of one list that a client follows. The next one rejects with "too-many".',
  },
  cacheEntries: {
    default: 256,
    unit: 'count',
    meaning: 'Results a client keeps as long as their `ttlMs` says. The oldest go first.',
  },
  cacheCharacters: {
    default: 16_777_216,
    unit: 'characters',
    meaning: 'All results a client keeps, written as JSON. The oldest go first.',
  },
  changes: {
    default: 1024,
    unit: 'count',
    meaning: 'Changes that wait to be read. The oldest are dropped, and `lagged` says how many.',
  },
  reconnects: {
    default: 5,
    unit: 'count',
    meaning: 'Attempts of a client to open a lost connection again. Then it closes.',
  },
  reconnectMs: {
    default: 1000,
    unit: 'ms',
    meaning: 'Longest wait before the second attempt; twice as long before each further one.',
  },
  reconnectMaxMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Longest wait before any attempt to open a connection again.',
  },
  steadyMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Time a connection must last for the attempts to be counted from the start again.',
  },
  taskPollMs: {
    default: 1000,
    unit: 'ms',
    meaning: 'Time between two looks at a task whose server names none.',
  },
  taskPollMinMs: {
    default: 100,
    unit: 'ms',
    meaning: 'Shortest time between two looks at a task, whatever its server says.',
  },
  heartbeatMs: {
    default: 0,
    unit: 'ms',
    meaning: 'How often a client asks the server of its session for a sign of life; 0 asks never.',
  },
  heartbeatWaitMs: {
    default: 30_000,
    unit: 'ms',
    meaning: 'Time that server has to give it. Then the connection counts as lost.',
  },
  outputSchemas: {
    default: 1024,
    unit: 'count',
    meaning:
      'Listed tools of which a client knows what they give and how they run. The oldest are forgotten.',
  },
  askedTasks: {
    default: 64,
    unit: 'count',
    meaning: 'Questions of one server that a client answers as tasks. A further one is refused.',
  },
  askedTaskMs: {
    default: 3_600_000,
    unit: 'ms',
    meaning: 'Longest time a client keeps the answer to such a question, whatever its server says.',
  },
} as const satisfies Record<string, Limit>
