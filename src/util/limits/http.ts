import { KiB, type Limit, MiB } from './limit.ts'

/** HTTP, on both sides. */
export const http = {
  sessions: {
    default: 10_000,
    unit: 'count',
    meaning:
      'Sessions over HTTP of one service. At the limit one that has been idle for `sessionSpareMs` makes room; otherwise the opening is answered 503.',
  },
  sessionsPerPrincipal: {
    default: 100,
    unit: 'count',
    meaning: 'Sessions over HTTP of one principal. The same happens at the limit.',
  },
  sessionIdleMs: {
    default: 1_800_000,
    unit: 'ms',
    meaning:
      'Time a session over HTTP may have neither a request in flight nor an open stream. Then it ends.',
  },
  sessionOpeningMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time a client has to send something after opening a session over HTTP. Then the session ends.',
  },
  sessionSpareMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Time a session over HTTP must have been idle to make room for another at the limit.',
  },
  streamEvents: {
    default: 1000,
    unit: 'count',
    meaning:
      'Events of one stream kept for a client that comes back. The oldest go first; whoever needs them is answered 400.',
  },
  streamBytes: {
    default: 1 * MiB,
    unit: 'bytes',
    meaning: 'The same, by their size in memory.',
  },
  eventLogBytes: {
    default: 64 * MiB,
    unit: 'bytes',
    meaning: 'Events of all streams of one service kept for clients that come back.',
  },
  eventAgeMs: {
    default: 300_000,
    unit: 'ms',
    meaning: 'Time an event is kept for a client that comes back.',
  },
  streamRetryMs: {
    default: 1000,
    unit: 'ms',
    meaning:
      'Time a client is asked to stay away when its event stream is closed for the time being.',
  },
  httpInFlight: {
    default: 10_000,
    unit: 'count',
    meaning: 'Requests over HTTP that one service answers at once. A further one is answered 503.',
  },
  httpHeaderFields: {
    default: 100,
    unit: 'count',
    meaning: 'Headers of one HTTP request. Answered 431, then closed.',
  },
  httpRefusedBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning:
      'Body of a refused HTTP request that is read to its end, so that its connection can be used again. With a larger one the connection is closed.',
  },
  httpAheadBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning:
      'What a client over HTTP has sent ahead, while its request is being answered. Nothing more is read until then.',
  },
  httpHeadersMs: {
    default: 10_000,
    unit: 'ms',
    meaning: 'Time the headers of an HTTP request may take. Then its connection is closed.',
  },
  httpRequestMs: {
    default: 30_000,
    unit: 'ms',
    meaning: 'Time a whole HTTP request may take to arrive. Then it is answered 408.',
  },
  httpIdleMs: {
    default: 5000,
    unit: 'ms',
    meaning: 'Time an HTTP connection is kept open for a further request.',
  },
  keepAliveMs: {
    default: 15_000,
    unit: 'ms',
    meaning: 'Silence on an event stream after which a comment is sent to keep it open.',
  },
  httpOpenRequests: {
    default: 256,
    unit: 'count',
    meaning:
      'Requests over HTTP that one client has open at once, streams of changes aside. Further ones wait for a place.',
  },
  httpNotices: {
    default: 64,
    unit: 'count',
    meaning:
      'Notifications and replies that one client over HTTP sends at once, on connections besides those of its requests. Further ones wait.',
  },
  httpSpareMs: {
    default: 4000,
    unit: 'ms',
    meaning:
      'Time a client keeps a connection over HTTP for a further request; less where the server names less. Then it is closed.',
  },
  httpAnswerHeadBytes: {
    default: 16 * KiB,
    unit: 'bytes',
    meaning: 'Headers of an answer over HTTP. The request fails and its connection is closed.',
  },
  httpAcceptMs: {
    default: 30_000,
    unit: 'ms',
    meaning:
      'Time a server over HTTP has to accept a notification or a reply, to begin an event stream, or to name where to send to. Then it is given up.',
  },
  httpBodyMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Time the body of an answer over HTTP may take, event streams aside. Then it is cut.',
  },
  httpRefusalBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning: 'The body of a refusal over HTTP. Of a larger one only the status counts.',
  },
  httpRedirects: {
    default: 3,
    unit: 'count',
    meaning: 'Redirects of one request, all to the same origin. The next one fails the request.',
  },
  httpFarewellMs: {
    default: 2000,
    unit: 'ms',
    meaning:
      'Time for the last messages of a client over HTTP and the end of its session, and for the stream of a request that has been answered or cancelled to end. Then it is cut.',
  },
  streamReconnects: {
    default: 5,
    unit: 'count',
    meaning:
      'Attempts in a row of a client to open an event stream again that broke off. Then it is given up.',
  },
  streamRetryMinMs: {
    default: 100,
    unit: 'ms',
    meaning:
      'Shortest wait before a client opens an event stream again, whatever its server says. The longest is `reconnectMaxMs`.',
  },
  websocketCalls: {
    default: 1024,
    unit: 'count',
    meaning:
      'Calls under way on the WebSocket that a client over HTTP has besides. Further ones go over HTTP.',
  },
  websocketCallLength: {
    default: 256 * KiB,
    unit: 'characters',
    meaning:
      'A call on that WebSocket. A longer one goes over HTTP, where it holds up nobody else.',
  },
  websocketRetryMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time from one attempt to open that WebSocket to the next, doubled for each one that failed, up to 64 times. Calls go over HTTP meanwhile.',
  },
  headerTools: {
    default: 1024,
    unit: 'count',
    meaning:
      'Tools of which a client knows the arguments that travel as headers. The oldest are forgotten.',
  },
} as const satisfies Record<string, Limit>
