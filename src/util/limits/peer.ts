import type { Limit } from './limit.ts'

/** Limits of the queues and waits of one peer. */
export const peerLimits = {
  inFlight: {
    default: 256,
    unit: 'count',
    meaning: 'Requests of one peer in flight. Further requests are queued.',
  },
  queued: {
    default: 4096,
    unit: 'count',
    meaning:
      'Queued requests of one peer. Reading pauses first; beyond the limit they are answered -32000.',
  },
  pauseMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time for which reading can pause because too many requests are queued. Then it continues, and requests over the limit are rejected.',
  },
  disconnectDrainMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time in which requests in flight can still be answered after the peer has ended its output.',
  },
  pendingCalls: {
    default: 65_536,
    unit: 'count',
    meaning: 'Calls of one peer that wait for their reply. A further call rejects.',
  },
  abandonedIds: {
    default: 1024,
    unit: 'count',
    meaning: 'Ids of abandoned calls that are remembered, to tell a late reply from a foreign one.',
  },
  callTimeoutMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Timeout of a call. The call rejects with the code "timeout".',
  },
  drainMs: {
    default: 30_000,
    unit: 'ms',
    meaning: 'Time to answer requests in flight when closing. The rest is cancelled.',
  },
  lameDuckMs: {
    default: 0,
    unit: 'ms',
    meaning:
      'Time for which a closing HTTP listener still accepts connections while `/readyz` returns 503.',
  },
} as const satisfies Record<string, Limit>
