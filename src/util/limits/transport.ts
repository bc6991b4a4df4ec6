import { KiB, type Limit, MiB } from './limit.ts'

/** Connections and child processes. */
export const transport = {
  outboundHighWaterBytes: {
    default: 1 * MiB,
    unit: 'bytes',
    meaning: 'Unsent bytes of one connection at which producers are asked to wait.',
  },
  outboundBytes: {
    default: 8 * MiB,
    unit: 'bytes',
    meaning: 'Unsent bytes of one connection at which one more message closes it as too slow.',
  },
  stallMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time a connection may stay above the high water without taking a byte. Then it closes.',
  },
  connections: {
    default: 10_000,
    unit: 'count',
    meaning: 'Connections of one listener. Further ones are closed at once.',
  },
  websocketFragments: {
    default: 256,
    unit: 'count',
    meaning: 'Pieces of one WebSocket message. The connection closes with 1008.',
  },
  websocketJoinedBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning:
      'Several messages that two of ours carry as one WebSocket message. Answered -32012, then closed with 1009.',
  },
  handshakeMs: {
    default: 10_000,
    unit: 'ms',
    meaning: 'Opening a connection, WebSocket handshake included. Given up.',
  },
  stderrBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning: 'The end of a child process’s error output that is kept.',
  },
  junkLines: {
    default: 1000,
    unit: 'count',
    meaning:
      'Lines of a child process that are no JSON. Then the child counts as broken and is closed.',
  },
  closeIdleMs: {
    default: 1000,
    unit: 'ms',
    meaning: 'Time a closing connection waits for a peer that takes nothing. Then it is cut.',
  },
  closeMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time a closing connection waits for a peer that takes little by little. Then it is cut.',
  },
  lastWordsMs: {
    default: 100,
    unit: 'ms',
    meaning: 'Time for what was sent before the other side broke off. Later bytes are dropped.',
  },
  childExitMs: {
    default: 1000,
    unit: 'ms',
    meaning: 'Time a child process that closed its output has to exit, so that it can be told why.',
  },
  childKillMs: {
    default: 5000,
    unit: 'ms',
    meaning: 'Time the system has to carry out a SIGKILL. Then closing goes on without.',
  },
  childEndMs: {
    default: 5000,
    unit: 'ms',
    meaning: 'Time a child process has to leave after its input ended. Then SIGTERM.',
  },
  childTermMs: {
    default: 5000,
    unit: 'ms',
    meaning: 'Time a child process has to leave after SIGTERM. Then SIGKILL to its whole tree.',
  },
  pingMs: {
    default: 30_000,
    unit: 'ms',
    meaning: 'How often the other side of a WebSocket is asked for a sign of life.',
  },
  pongMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time the other side of a WebSocket has to give that sign. Then the connection is cut.',
  },
} as const satisfies Record<string, Limit>
