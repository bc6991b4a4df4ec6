import type { Limit } from './limit.ts'

/** The servers behind a router. */
export const upstream = {
  upstreamOpenMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time in which a server behind a router must be connected to, and each of its lists read. Then the attempt has failed.',
  },
  programOpenMs: {
    default: 60_000,
    unit: 'ms',
    meaning:
      'The same for a program that is started: it may have to be fetched first, as by `npx`.',
  },
  upstreamCallMs: {
    default: 300_000,
    unit: 'ms',
    meaning:
      'Time a call through a router waits for a sign of life of its server. Then it is answered -32009, and cancelled there.',
  },
  upstreamWaitMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time a call through a router, or the first list, waits for a server that is being started. Then it is answered -32000, or the list goes without.',
  },
  listRetryMs: {
    default: 30_000,
    unit: 'ms',
    meaning:
      'Time after which a router reads a list of a server again that could not be read. Till then it goes without.',
  },
  upstreamGraceMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time a server may be gone before a router hides what it offers: so short a gap is none to callers.',
  },
  upstreamEntries: {
    default: 20_000,
    unit: 'count',
    meaning: 'Entries of one list of a server behind a router. Further ones are not read.',
  },
  lanes: {
    default: 64,
    unit: 'count',
    meaning:
      'Connections to one instance of a server at one time, beside its first. A caller that needs another one is answered -32000.',
  },
  laneIdleMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Time after which such a connection that nobody uses is closed.',
  },
  healthEveryMs: {
    default: 15_000,
    unit: 'ms',
    meaning: 'How often a server behind a router is asked for a sign of life.',
  },
  healthTimeoutMs: {
    default: 5000,
    unit: 'ms',
    meaning: 'Time it has to give one.',
  },
  healthFailures: {
    default: 3,
    unit: 'count',
    meaning: 'Signs of life missed in a row after which it is connected to, or started, anew.',
  },
  senderKinds: {
    default: 256,
    unit: 'count',
    meaning:
      'Kinds of callers, by what they declare, whose introduction to stateless servers a router keeps. Of more, all are made anew.',
  },
  heldMs: {
    default: 300_000,
    unit: 'ms',
    meaning:
      'Time a call of a stateless caller is held for the answer to a question of its server. Then it is cancelled, and the answer refused with -32602.',
  },
  heldCalls: {
    default: 1000,
    unit: 'count',
    meaning:
      'Calls held at one time. Of more, the one held longest is cancelled, and its answer refused with -32602.',
  },
  doubtMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time a question of a server waits that could be that of several callers. If by then it is not clear whose it is, it is refused.',
  },
  doubtfulQuestions: {
    default: 64,
    unit: 'count',
    meaning: 'Such questions on one connection. A further one is refused at once.',
  },
  abandonedMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time a call that was given up, and is not answered, counts as one that a server with sessions may ask for: as long its questions are put to nobody else.',
  },
  abandonedCalls: {
    default: 256,
    unit: 'count',
    meaning:
      'Such calls that one connection remembers. Of more, the oldest counts for the whole time, answered or not.',
  },
} as const satisfies Record<string, Limit>
