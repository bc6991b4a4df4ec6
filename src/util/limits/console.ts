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
  consoleProgressLength: {
    default: 200,
    unit: 'characters',
    meaning: 'Length of a progress message in the traffic of the console. The rest is cut.',
  },
  consoleRecordMs: {
    default: 600_000,
    unit: 'ms',
    meaning:
      'Time after which the recording of arguments and results by the console ends by itself.',
  },
  consoleRecordings: {
    default: 200,
    unit: 'count',
    meaning:
      'Calls whose arguments and results the console keeps while it records. The oldest are forgotten.',
  },
  consoleRecordedBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning:
      'Size of the arguments, and of the result, of one recorded call. Of larger ones only the size is kept.',
  },
  consoleRecordingBytes: {
    default: 8 * MiB,
    unit: 'bytes',
    meaning: 'Size of all recorded arguments and results. The oldest are forgotten.',
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
  consoleRuns: {
    default: 16,
    unit: 'count',
    meaning:
      'Calls of the playground that one page of the console has in flight. A further one gets 503.',
  },
  consoleRunMs: {
    default: 60_000,
    unit: 'ms',
    meaning:
      'Time for which a call of the playground waits for a result or for progress, unless the page sets another one. It does not run while a server request waits for the person.',
  },
  consoleRunMaxMs: {
    default: 3_600_000,
    unit: 'ms',
    meaning:
      'Longest time that a page can set for a call of the playground. A longer one gets 400.',
  },
  consoleResultBytes: {
    default: 4 * MiB,
    unit: 'bytes',
    meaning:
      'Size of a result that the playground shows, as JSON. Of a larger one it shows only the size.',
  },
  consoleQuestions: {
    default: 32,
    unit: 'count',
    meaning:
      'Server requests that wait for a person at one page of the playground. Further ones are answered with "cancel".',
  },
  consoleQuestionMs: {
    default: 300_000,
    unit: 'ms',
    meaning:
      'Time for which a server request waits for a person at the playground. Then it is answered with "cancel".',
  },
  consoleMessages: {
    default: 100,
    unit: 'count',
    meaning:
      'Notifications of servers that the playground keeps for the next frame to its page. The rest is counted.',
  },
  consoleListEntries: {
    default: 2000,
    unit: 'count',
    meaning: 'Tools, prompts, resources and templates, each, that the playground lists.',
  },
  consoleLeaveMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time after which the playground of a page is closed and forgotten when the stream of the page has ended, unless the page opens another one.',
  },
  consoleChecks: {
    default: 2,
    unit: 'count',
    meaning: 'Checks that the console runs at the same time. A further one gets 503.',
  },
  consoleCheckMs: {
    default: 300_000,
    unit: 'ms',
    meaning: 'Time that a check of the console may take. Then it is stopped.',
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
