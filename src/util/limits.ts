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
  inputRounds: {
    default: 10,
    unit: 'count',
    meaning: 'Rounds of questions in one stateless request. The next one is answered -32603.',
  },
  requestStateMs: {
    default: 600_000,
    unit: 'ms',
    meaning: 'Time a client has to answer a question of a stateless request. Then -32602.',
  },
  pageSize: {
    default: 500,
    unit: 'count',
    meaning: 'Entries on one page of a list. The rest follows by cursor.',
  },
  completionValues: {
    default: 100,
    unit: 'count',
    meaning: 'Values of one completion. More are left out, and `hasMore` says so.',
  },
  listens: {
    default: 64,
    unit: 'count',
    meaning: 'Listen streams of one connection at once. A further one is answered -32000.',
  },
  subscribedUris: {
    default: 1024,
    unit: 'count',
    meaning: 'Resources one session or listen stream is subscribed to. A further one is refused.',
  },
  progressBurst: {
    default: 100,
    unit: 'count',
    meaning: 'Progress notifications of one request in a row. Then they come 20 a second.',
  },
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
  outputSchemas: {
    default: 1024,
    unit: 'count',
    meaning:
      'Output schemas of listed tools that a client checks results with. The oldest are forgotten.',
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

export type LimitName = keyof typeof limits
