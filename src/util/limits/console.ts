import { KiB, type Limit, MiB } from './limit.ts'

/** Limits of the console. */
export const consoleLimits = {
  consoleViewers: {
    default: 4,
    unit: 'count',
    meaning: 'Pages of the console that receive data at the same time. A further one gets 503.',
  },
  consoleBodyBytes: {
    default: MiB,
    unit: 'bytes',
    meaning: 'Size of the body of a request to the console. A larger one gets 413.',
  },
  consoleWrongKeys: {
    default: 10,
    unit: 'count',
    meaning:
      'Requests to the console with a wrong key within a minute. Further ones get 429 until the minute has passed; the right key is accepted at any time.',
  },
  consoleStalledMs: {
    default: 30_000,
    unit: 'ms',
    meaning:
      'Time for which a page of the console may read too slowly. Frames are left out for it meanwhile; then its stream is closed.',
  },
  consoleFrameMs: {
    default: 250,
    unit: 'ms',
    meaning: 'Time between two frames to a page of the console.',
  },
  consoleAliveMs: {
    default: 15_000,
    unit: 'ms',
    meaning: 'Time between two comments that keep the stream to a page of the console open.',
  },
  consoleFrameCalls: {
    default: 50,
    unit: 'count',
    meaning:
      'Calls in one frame to a page of the console. Failed, slow and retried ones come first; the rest is counted.',
  },
  consoleFrameLines: {
    default: 100,
    unit: 'count',
    meaning: 'Lines of logs in one frame to a page of the console. The rest is counted.',
  },
  consoleCalls: {
    default: 2000,
    unit: 'count',
    meaning: 'Calls that the console keeps while it is looked at. The oldest are forgotten.',
  },
  consoleFailures: {
    default: 200,
    unit: 'count',
    meaning: 'Failed calls that the console keeps at all times. The oldest are forgotten.',
  },
  consoleSpans: {
    default: 64,
    unit: 'count',
    meaning: 'Attempts, waits and server requests of one call that the console keeps.',
  },
  consoleInFlight: {
    default: 10_000,
    unit: 'count',
    meaning: 'Calls in flight that the console follows while it is looked at.',
  },
  consoleLingerMs: {
    default: 60_000,
    unit: 'ms',
    meaning:
      'Time for which calls are still collected after the last page that shows them was closed, so that a reload loses nothing.',
  },
  consoleChanges: {
    default: 500,
    unit: 'count',
    meaning: 'Changes of servers that the console keeps. The oldest are forgotten.',
  },
  consoleLogLines: {
    default: 1000,
    unit: 'count',
    meaning: 'Log lines that the console keeps. The oldest are forgotten.',
  },
  consoleFigureSeconds: {
    default: 900,
    unit: 'count',
    meaning: 'Seconds of figures that the console keeps.',
  },
  consoleFigureMinutes: {
    default: 1440,
    unit: 'count',
    meaning: 'Minutes of figures that the console keeps.',
  },
  consoleFigureServers: {
    default: 64,
    unit: 'count',
    meaning: 'Servers with figures of their own in the console. Further ones are in the sum only.',
  },
  consoleClients: {
    default: 64,
    unit: 'count',
    meaning: 'Clients that the page "Connect" of the console lists. The oldest are forgotten.',
  },
  consoleSessions: {
    default: 500,
    unit: 'count',
    meaning:
      'Sessions, subscriptions and tasks, each, that the page "Sessions" of the console lists: the oldest ones. The rest is counted.',
  },
  slowCallMs: {
    default: 1000,
    unit: 'ms',
    meaning: 'Duration from which the console marks a call as slow.',
  },
  consoleTextLength: {
    default: 16 * KiB,
    unit: 'characters',
    meaning: 'Length of one text that the console shows, such as an error output. The rest is cut.',
  },
} as const satisfies Record<string, Limit>
