import type { Limit } from './limit.ts'

/** What one peer keeps waiting. */
export const peer = {
  inFlight: {
    default: 256,
    unit: 'count',
    meaning: 'Requests of one peer being answered at once. More wait in a queue.',
  },
  queued: {
    default: 4096,
    unit: 'count',
    meaning:
      'Requests of one peer waiting for their turn. Reading pauses first; past the limit they are answered -32000.',
  },
  pauseMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time reading may rest because too much waits. Then it goes on, and requests over the limit are refused.',
  },
  endedMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time requests in flight may still be answered after the other side has stopped talking.',
  },
  pendingCalls: {
    default: 65_536,
    unit: 'count',
    meaning: 'Calls of one peer waiting for their reply. A further call rejects.',
  },
  abandonedIds: {
    default: 1024,
    unit: 'count',
    meaning: 'Ids of calls given up that are remembered, to tell a late reply from a foreign one.',
  },
  callTimeoutMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Waiting for one reply. The call rejects with the code "timeout".',
  },
  drainMs: {
    default: 30_000,
    unit: 'ms',
    meaning: 'Waiting for requests in flight when closing. What is left is cut.',
  },
} as const satisfies Record<string, Limit>
