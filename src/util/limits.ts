const KiB = 1024
const MiB = 1024 * KiB

interface Limit {
  readonly default: number
  readonly unit: 'bytes' | 'ms' | 'characters' | 'count'
  /** What happens at the limit, in words for `docs/limits.md`. */
  readonly meaning: string
}

/**
 * Every limit of the product: its name, default, unit and what happens when it is reached.
 * `docs/limits.md` shows this table and is checked against it.
 */
export const limits = {
  stdioMessageBytes: {
    default: 10 * MiB,
    unit: 'bytes',
    meaning: 'One message on stdio or from a child process. Answered -32012; reading goes on.',
  },
  socketMessageBytes: {
    default: 100 * MiB,
    unit: 'bytes',
    meaning: 'One message on TCP, a Unix socket or a named pipe. Answered -32012, then closed.',
  },
  httpMessageBytes: {
    default: 50 * MiB,
    unit: 'bytes',
    meaning: 'One HTTP body. Answered 413 with -32012.',
  },
  websocketMessageBytes: {
    default: 50 * MiB,
    unit: 'bytes',
    meaning: 'One WebSocket message. Answered -32012, then closed with 1009.',
  },
  sseMessageBytes: {
    default: 10 * MiB,
    unit: 'bytes',
    meaning: 'One event of an event stream. The stream is given up.',
  },
  depth: {
    default: 64,
    unit: 'count',
    meaning: 'Nesting of arrays and objects in one message. Answered -32600 before parsing.',
  },
  nodes: {
    default: 100_000,
    unit: 'count',
    meaning: 'Keys and values in one message. Answered -32600 before parsing.',
  },
  batch: {
    default: 100,
    unit: 'count',
    meaning: 'Messages in one batch. Answered -32600 (-32069 in the erlmcp profile).',
  },
  idLength: {
    default: 256,
    unit: 'characters',
    meaning: 'A request id as text. Answered -32600.',
  },
  methodLength: {
    default: 256,
    unit: 'characters',
    meaning: 'A method name. Answered -32600.',
  },
  headerBytes: {
    default: 8 * KiB,
    unit: 'bytes',
    meaning: 'The header block before a Content-Length frame. Answered -32700, then closed.',
  },
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

export type LimitName = keyof typeof limits
