import { KiB, type Limit, MiB } from './limit.ts'

/** Limits of connections and child processes. */
export const transportLimits = {
  outboundHighWaterBytes: {
    default: 1 * MiB,
    unit: 'bytes',
    meaning: 'Unsent bytes of one connection above which senders have to wait (high-water mark).',
  },
  outboundBytes: {
    default: 8 * MiB,
    unit: 'bytes',
    meaning: 'Unsent bytes of one connection above which a further message closes it as too slow.',
  },
  stallMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time for which a connection can stay above the high-water mark without progress. Then it closes.',
  },
  heldBytes: {
    default: 16 * MiB,
    unit: 'bytes',
    meaning:
      'Incomplete messages and unread responses that one listener holds for all its connections. Beyond it, a message waits to be read (`heldWaitMs`), and of unread responses those go whose clients have read nothing for longest.',
  },
  heldWaitMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time for which the rest of a message is not read because `heldBytes` has no room for it. Then an HTTP request gets 503, and any other connection closes.',
  },
  heldWaiting: {
    default: 64,
    unit: 'count',
    meaning:
      'Messages that wait for room in this way at the same time. A further one is refused at once.',
  },
  requestBytes: {
    default: 12 * MiB,
    unit: 'bytes',
    meaning:
      'Memory that requests in flight of all connections of one listener take, with 2 KiB for each and an estimate of their params. A request beyond it gets 503 or -32000; one request alone may take more.',
  },
  abandonedRequestMs: {
    default: 60_000,
    unit: 'ms',
    meaning:
      'Time for which a large request that was cancelled counts towards `requestBytes` if its handler does not finish.',
  },
  uncountedBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning:
      'Bytes that one connection may hold without counting towards `heldBytes`, within `uncountedTotalBytes`.',
  },
  uncountedTotalBytes: {
    default: 8 * MiB,
    unit: 'bytes',
    meaning:
      'Bytes that all connections of one listener together may hold without counting towards `heldBytes`. More of them count.',
  },
  connections: {
    default: 10_000,
    unit: 'count',
    meaning: 'Connections of one listener. Further ones are closed at once.',
  },
  connectionsPerAddress: {
    default: 1000,
    unit: 'count',
    meaning:
      'Connections of one client address to one listener; IPv6 addresses of one /64 network count as one. Further ones are closed at once. By default addresses of this machine and of private networks are not limited.',
  },
  turnBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning:
      'Bytes read from one child process, socket or WebSocket before reading rests until the next turn of the event loop, so that others are served meanwhile.',
  },
  listenerTurnBytes: {
    default: 1 * MiB,
    unit: 'bytes',
    meaning:
      'Bytes of messages that one listener decodes in one turn of the event loop; each message counts at least 1 KiB. Further ones wait for the next turn.',
  },
  reservedFiles: {
    default: 32,
    unit: 'count',
    meaning:
      'File handles that listeners leave free, but at most a quarter of all. With fewer, new connections are closed at once.',
  },
  fileWarningMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Time between two reports that file handles run out.',
  },
  websocketFragments: {
    default: 256,
    unit: 'count',
    meaning: 'Fragments of one WebSocket message. The connection closes with 1008.',
  },
  websocketJoinedBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning:
      'Messages that two Trunkline peers join into one WebSocket message. Answered -32012, then closed with 1009.',
  },
  handshakeMs: {
    default: 10_000,
    unit: 'ms',
    meaning: 'Timeout for opening a connection, including the WebSocket handshake.',
  },
  stderrBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning: 'Bytes at the end of a child process’s stderr output that are kept.',
  },
  junkLines: {
    default: 1000,
    unit: 'count',
    meaning:
      'Output lines of a child process that are not JSON. Beyond the limit the channel to it closes.',
  },
  certificateCheckMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time between two checks whether the certificate files of a TLS listener have changed.',
  },
  closeIdleMs: {
    default: 1000,
    unit: 'ms',
    meaning: 'Time a closing connection waits for a peer that reads nothing. Then it is destroyed.',
  },
  closeMs: {
    default: 10_000,
    unit: 'ms',
    meaning: 'Time a closing connection waits for a peer that reads slowly. Then it is destroyed.',
  },
  finalReadMs: {
    default: 100,
    unit: 'ms',
    meaning:
      'Time to read what the peer sent before its connection failed. Later bytes are dropped.',
  },
  childExitMs: {
    default: 1000,
    unit: 'ms',
    meaning:
      'Time a child process that closed its output has to exit, so that its exit status can be reported.',
  },
  childKillMs: {
    default: 5000,
    unit: 'ms',
    meaning: 'Time the system has to carry out a SIGKILL. Then closing continues without it.',
  },
  childEndMs: {
    default: 5000,
    unit: 'ms',
    meaning: 'Time a child process has to exit after its input ended. Then SIGTERM.',
  },
  childTermMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time a child process has to exit after SIGTERM. Then SIGKILL to its whole process tree.',
  },
  pingMs: {
    default: 30_000,
    unit: 'ms',
    meaning: 'Interval between pings on a WebSocket.',
  },
  pongMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time the peer of a WebSocket has to respond to a ping. Then the connection is destroyed.',
  },
} as const satisfies Record<string, Limit>
