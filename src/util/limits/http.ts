import { KiB, type Limit, MiB } from './limit.ts'

/** Limits of HTTP servers and clients. */
export const httpLimits = {
  sessions: {
    default: 5000,
    unit: 'count',
    meaning:
      'Sessions over HTTP of one service. At the limit a session that has been idle for `sessionEvictableMs` is evicted; otherwise `initialize` gets 503.',
  },
  sessionsPerPrincipal: {
    default: 100,
    unit: 'count',
    meaning:
      'Sessions over HTTP of one principal. At the limit one of its idle sessions is evicted; otherwise `initialize` gets 503.',
  },
  sessionsPerAddress: {
    default: 1000,
    unit: 'count',
    meaning:
      'Sessions over HTTP of one client address without a principal, counted as in `connectionsPerAddress`. At the limit one of its idle sessions is evicted; otherwise `initialize` gets 503.',
  },
  sessionIdleMs: {
    default: 1_800_000,
    unit: 'ms',
    meaning:
      'Time a session over HTTP may be idle, with no request in flight and no open stream. Then it ends.',
  },
  sessionInitializeMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time in which a client must send its next message after it has opened a session over HTTP. Then the session ends.',
  },
  sessionEvictableMs: {
    default: 60_000,
    unit: 'ms',
    meaning: 'Time a session over HTTP must have been idle to be evicted at the limit.',
  },
  streamEvents: {
    default: 1000,
    unit: 'count',
    meaning:
      'Events of one stream kept for a client that reconnects. The oldest are dropped first; resuming before them gets 400.',
  },
  streamBytes: {
    default: 1 * MiB,
    unit: 'bytes',
    meaning:
      'Size in memory of the events of one stream kept for a client that reconnects. The oldest are dropped first.',
  },
  eventLogBytes: {
    default: 16 * MiB,
    unit: 'bytes',
    meaning:
      'Size in memory of the events of all streams of one service kept for clients that reconnect. The oldest are dropped first.',
  },
  eventAgeMs: {
    default: 300_000,
    unit: 'ms',
    meaning: 'Time an event is kept for a client that reconnects.',
  },
  streamRetryMs: {
    default: 1000,
    unit: 'ms',
    meaning:
      'Time after which a client is asked to reconnect when its event stream is closed for polling.',
  },
  drainIdleMs: {
    default: 100,
    unit: 'ms',
    meaning:
      'Time for which a closing listener still answers requests on idle connections, which may be on their way. Then it closes them. Other connections than those of HTTP get an error that says that the request was not begun.',
  },
  httpInFlight: {
    default: 10_000,
    unit: 'count',
    meaning: 'HTTP requests in flight of one service. Further ones get 503.',
  },
  httpHeaderFields: {
    default: 100,
    unit: 'count',
    meaning:
      'Headers of one HTTP request. A request with more gets 431, and its connection is closed.',
  },
  httpRejectedBodyBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning:
      'Body of a rejected HTTP request that is read to its end, so that the connection can be reused. With a larger one the connection is closed.',
  },
  httpPipelinedBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning:
      'Bytes of further requests that an HTTP client has sent while a response is pending. With more, reading pauses for `httpPipelinedMs`.',
  },
  httpPipelinedRequests: {
    default: 64,
    unit: 'count',
    meaning:
      'Requests that an HTTP client may send ahead, beyond those that are handled in one turn of the event loop. With more, its connection is destroyed.',
  },
  httpPipelinedMs: {
    default: 1000,
    unit: 'ms',
    meaning:
      'Time for which reading pauses because of `httpPipelinedBytes`. Then further requests are dropped, and the connection closes after the pending response; if as many bytes again arrive, at once.',
  },
  httpHeadersMs: {
    default: 10_000,
    unit: 'ms',
    meaning:
      'Time in which the headers of an HTTP request must arrive. Then its connection is closed.',
  },
  httpRequestMs: {
    default: 30_000,
    unit: 'ms',
    meaning: 'Time in which a whole HTTP request must arrive. Then it gets 408.',
  },
  httpIdleMs: {
    default: 5000,
    unit: 'ms',
    meaning: 'Time for which a server keeps an idle HTTP connection open.',
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
      'HTTP requests in flight of one client, streams of changes not counted. Further ones are queued.',
  },
  httpNotifications: {
    default: 64,
    unit: 'count',
    meaning:
      'Notifications and replies that one client sends over HTTP at once, in addition to its requests. Further ones are queued.',
  },
  httpKeepAliveMs: {
    default: 4000,
    unit: 'ms',
    meaning:
      'Time for which a client keeps an idle HTTP connection; less if the server announces less.',
  },
  httpResponseHeaderBytes: {
    default: 16 * KiB,
    unit: 'bytes',
    meaning:
      'Headers of an HTTP response. With more the request fails, and its connection is closed.',
  },
  httpAcceptMs: {
    default: 30_000,
    unit: 'ms',
    meaning:
      'Time in which an HTTP server must accept a notification or a reply, begin an event stream, or name the URL for messages. Then the request fails.',
  },
  httpBodyMs: {
    default: 60_000,
    unit: 'ms',
    meaning:
      'Time in which the body of an HTTP response must arrive, event streams excepted. Then the request fails.',
  },
  httpErrorBodyBytes: {
    default: 64 * KiB,
    unit: 'bytes',
    meaning: 'Body of an HTTP error response. Of a larger one only the status is used.',
  },
  httpRedirects: {
    default: 3,
    unit: 'count',
    meaning: 'Redirects of one request, all to the same origin. The next one fails the request.',
  },
  httpCloseMs: {
    default: 2000,
    unit: 'ms',
    meaning:
      'Time for the last messages of an HTTP client and the end of its session, and for the stream of a request that has been answered or cancelled to end. Then they are cut.',
  },
  streamReconnects: {
    default: 5,
    unit: 'count',
    meaning:
      'Attempts in a row of a client to reopen an event stream that broke off. Then the stream is lost.',
  },
  streamRetryMinMs: {
    default: 100,
    unit: 'ms',
    meaning:
      'Minimum delay before a client reopens an event stream, whatever its server asks for. The maximum is `reconnectMaxMs`.',
  },
  websocketCalls: {
    default: 1024,
    unit: 'count',
    meaning:
      'Calls in flight on the WebSocket that a client opens in addition to HTTP. Further ones use HTTP.',
  },
  websocketCallLength: {
    default: 256 * KiB,
    unit: 'characters',
    meaning:
      'Length of a call on that WebSocket. A longer one uses HTTP, where it does not block other calls.',
  },
  websocketRetryMs: {
    default: 5000,
    unit: 'ms',
    meaning:
      'Time from one attempt to open that WebSocket to the next, doubled for each failed one, up to 64 times. Calls use HTTP meanwhile.',
  },
  paramHeaderTools: {
    default: 1024,
    unit: 'count',
    meaning: 'Tools whose header annotations a client remembers. The oldest are forgotten.',
  },
} as const satisfies Record<string, Limit>
