import { KiB, type Limit, MiB } from './limit.ts'

/** Limits of a single message, for all transports. */
export const messageLimits = {
  stdioMessageBytes: {
    default: 10 * MiB,
    unit: 'bytes',
    meaning: 'One message on stdio or from a child process. Answered -32012; reading continues.',
  },
  callerMessageBytes: {
    default: 4 * MiB,
    unit: 'bytes',
    meaning:
      'One message from a client, over HTTP, WebSocket, TCP, a Unix socket or a named pipe. Answered -32012, over HTTP with status 413; other connections are then closed, WebSockets with 1009.',
  },
  socketMessageBytes: {
    default: 100 * MiB,
    unit: 'bytes',
    meaning:
      'One message from a server on TCP, a Unix socket or a named pipe. Answered -32012, then closed.',
  },
  httpMessageBytes: {
    default: 50 * MiB,
    unit: 'bytes',
    meaning: 'The body of one HTTP response. The call fails.',
  },
  websocketMessageBytes: {
    default: 50 * MiB,
    unit: 'bytes',
    meaning: 'One WebSocket message from a server. Answered -32012, then closed with 1009.',
  },
  sseMessageBytes: {
    default: 10 * MiB,
    unit: 'bytes',
    meaning: 'One event of an event stream. The stream is closed.',
  },
  depth: {
    default: 64,
    unit: 'count',
    meaning: 'Nesting of arrays and objects in one message. Answered -32600 before parsing.',
  },
  nodes: {
    default: 100_000,
    unit: 'count',
    meaning:
      'Keys and values in one message. A message longer than 1.6 MB may have more, one for each `nodeBytes`, up to its size limit. Answered -32600 before parsing.',
  },
  nodeBytes: {
    default: 16,
    unit: 'bytes',
    meaning: 'Length of a message that allows one key or value, beyond `nodes`.',
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
  cachedMetaLength: {
    default: 2048,
    unit: 'characters',
    meaning:
      'The `_meta` at the end of a message that is cached, because the next message of the same connection may repeat it. A longer one is parsed each time.',
  },
  headerBytes: {
    default: 8 * KiB,
    unit: 'bytes',
    meaning: 'The header block before a Content-Length frame. Answered -32700, then closed.',
  },
} as const satisfies Record<string, Limit>
