import {
  application,
  every,
  juneAndNovember2025,
  march2025,
  november2025,
  sinceMarch2025,
  sinceNovember2025,
  under,
} from './table.ts'

/** The revisions whose HTTP transport has one endpoint and sessions. */
const streamable = every.slice(1, 4)
/** The revision whose HTTP transport has two endpoints (HTTP+SSE). */
const oldest = every.slice(0, 1)

/** HTTP with sessions, HTTP+SSE of the oldest revision, and the rules common to all HTTP transports. */
export const http = [
  ...under('basic/transports/streamable-http / Security & Endpoint', every, [
    { id: 'H2', level: 'MUST', side: 'server', says: 'The `Origin` of every request is checked.' },
    {
      id: 'H2c',
      level: 'SHOULD',
      side: 'server',
      says: 'A server for its own machine listens on localhost only.',
    },
    {
      id: 'H2d',
      level: 'SHOULD',
      side: 'server',
      says: 'Connections are authenticated.',
      beyond: application,
    },
  ]),
  ...under('basic/transports/streamable-http / Security & Endpoint', sinceNovember2025, [
    {
      id: 'H2b',
      level: 'MUST',
      side: 'server',
      says: 'An `Origin` that is not allowed is answered with 403.',
    },
  ]),
  ...under('basic/transports / Streamable HTTP', streamable, [
    {
      id: 'H1',
      level: 'MUST',
      side: 'server',
      says: 'One path takes both POST and GET.',
    },
  ]),
  ...under('basic/transports / Sending Messages to the Server', streamable, [
    { id: 'H3', level: 'MUST', side: 'client', says: 'Each message is a POST of its own.' },
    {
      id: 'H3b',
      level: 'MUST',
      side: 'client',
      says: 'The `Accept` of a POST lists both JSON and event streams.',
    },
    {
      id: 'H5',
      level: 'MUST',
      side: 'server',
      says: 'Notifications and responses that are accepted are answered with 202 and no body.',
    },
    {
      id: 'H5b',
      level: 'MUST',
      side: 'server',
      says: 'Those that are not accepted are answered with a status of an error.',
    },
    {
      id: 'H6',
      level: 'MUST',
      side: 'server',
      says: 'A request is answered with JSON or with an event stream.',
    },
    { id: 'H6b', level: 'MUST', side: 'client', says: 'The client can read both.' },
    {
      id: 'H7',
      level: 'SHOULD',
      side: 'server',
      says: 'The stream of a request brings its response in the end.',
    },
    {
      id: 'H7b',
      level: 'SHOULD',
      side: 'server',
      says: 'What a stream brings before the response belongs to its request.',
    },
    {
      id: 'H7d',
      level: 'SHOULD',
      side: 'server',
      says: 'The stream ends after the response.',
    },
    {
      id: 'H7e',
      level: 'SHOULD',
      side: 'server',
      says: 'A connection that is lost cancels nothing.',
    },
    {
      id: 'H7f',
      level: 'SHOULD',
      side: 'client',
      says: 'To cancel, the client sends `notifications/cancelled`.',
    },
  ]),
  ...under('basic/transports / Sending Messages to the Server', every.slice(1, 3), [
    {
      id: 'H7c',
      level: 'SHOULD',
      side: 'server',
      says: 'The stream does not end before the response, unless the session does.',
    },
  ]),
  ...under('basic/transports / Sending Messages to the Server', march2025, [
    {
      id: 'H4',
      level: 'MUST',
      side: 'both',
      says: 'A body is one message or a batch, and a batch of requests gets a response for each of them.',
    },
  ]),
  ...under('basic/transports / Sending Messages to the Server', juneAndNovember2025, [
    { id: 'H4b', level: 'MUST', side: 'both', says: 'A body is one message and never a batch.' },
  ]),
  ...under('basic/transports / Sending Messages to the Server', november2025, [
    {
      id: 'H11',
      level: 'SHOULD',
      side: 'server',
      says: 'A stream begins with an event that has an id and no data.',
    },
    {
      id: 'H11b',
      level: 'SHOULD',
      side: 'server',
      says: 'Before the server closes the connection of a stream that goes on, it sends `retry`.',
    },
    {
      id: 'H11c',
      level: 'SHOULD',
      side: 'client',
      says: 'The client comes back to a stream whose connection was closed.',
    },
    {
      id: 'H11d',
      level: 'MUST',
      side: 'client',
      says: 'Before it comes back, the client waits as long as `retry` says.',
    },
  ]),
  ...under('basic/transports / Listening for Messages from the Server', streamable, [
    {
      id: 'H8',
      level: 'MUST',
      side: 'client',
      says: 'The `Accept` of a GET lists event streams.',
    },
    {
      id: 'H8b',
      level: 'MUST',
      side: 'server',
      says: 'A GET is answered with an event stream or with 405.',
    },
    {
      id: 'H8c',
      level: 'SHOULD',
      side: 'server',
      says: 'What the stream of a GET brings belongs to no request in flight.',
    },
    {
      id: 'H8d',
      level: 'MUST',
      side: 'server',
      says: 'The stream of a GET brings no responses, unless it goes on with that of a request.',
    },
  ]),
  ...under('basic/transports / Listening for Messages from the Server', november2025, [
    {
      id: 'H8e',
      level: 'SHOULD',
      side: 'server',
      says: 'Closing the connection of such a stream sends `retry` before, too.',
    },
  ]),
  ...under('basic/transports / Multiple Connections', streamable, [
    {
      id: 'H9',
      level: 'MUST',
      side: 'server',
      says: 'Each message goes out on one stream and no other.',
    },
  ]),
  ...under('basic/transports / Resumability and Redelivery', streamable, [
    {
      id: 'H10',
      level: 'MUST',
      side: 'server',
      says: 'The ids of events are unique over all streams of a session.',
    },
    {
      id: 'H10c',
      level: 'SHOULD',
      side: 'client',
      says: 'The client goes on with a stream by a GET that names the last event in `Last-Event-ID`.',
    },
    {
      id: 'H10d',
      level: 'MUST',
      side: 'server',
      says: 'Only messages of that stream are sent again.',
    },
  ]),
  ...under('basic/transports / Resumability and Redelivery', november2025, [
    {
      id: 'H10b',
      level: 'SHOULD',
      side: 'server',
      says: 'The id of an event identifies its stream.',
    },
  ]),
  ...under('basic/transports / Session Management', streamable, [
    {
      id: 'H12',
      level: 'SHOULD',
      side: 'server',
      says: 'The id of a session is unique and cannot be guessed.',
    },
    {
      id: 'H12b',
      level: 'MUST',
      side: 'server',
      says: 'The id of a session is made of visible ASCII.',
    },
    {
      id: 'H12d',
      level: 'MUST',
      side: 'client',
      says: 'Every request after `initialize` carries the id of its session.',
    },
    {
      id: 'H12e',
      level: 'SHOULD',
      side: 'server',
      says: 'A request that lacks the id is answered with 400, where one is needed.',
    },
    {
      id: 'H12f',
      level: 'MUST',
      side: 'server',
      says: 'A request of a session that has ended is answered with 404.',
    },
    {
      id: 'H12g',
      level: 'MUST',
      side: 'client',
      says: 'After such a 404 the client begins a new session, with an `initialize` without an id.',
    },
    {
      id: 'H12h',
      level: 'SHOULD',
      side: 'client',
      says: 'A client that needs its session no longer ends it by DELETE.',
    },
  ]),
  ...under('basic/transports / Session Management', november2025, [
    {
      id: 'H12c',
      level: 'MUST',
      side: 'client',
      says: 'The client keeps the id of its session to itself and the server.',
    },
  ]),
  ...under('security_best_practices / Session Hijacking', streamable, [
    {
      id: 'H16',
      level: 'MUST',
      side: 'server',
      says: 'To know the id of a session is no proof of who one is.',
    },
    {
      id: 'H16b',
      level: 'SHOULD',
      side: 'server',
      says: 'A session belongs to the user who opened it.',
    },
  ]),
  ...under('basic/transports / Protocol Version Header', juneAndNovember2025, [
    {
      id: 'H13',
      level: 'MUST',
      side: 'client',
      says: 'Every request after `initialize` carries `MCP-Protocol-Version`.',
    },
    {
      id: 'H13b',
      level: 'SHOULD',
      side: 'client',
      says: 'That is the version which was negotiated.',
    },
    {
      id: 'H13c',
      level: 'SHOULD',
      side: 'server',
      says: 'Without the header, and without another way to know, the version is 2025-03-26.',
    },
    {
      id: 'H13d',
      level: 'MUST',
      side: 'server',
      says: 'A version that does not exist or is not served is answered with 400.',
    },
  ]),
  ...under('basic/transports/streamable-http / HTTP+SSE Transport (2024-11-05)', sinceMarch2025, [
    {
      id: 'H14',
      level: 'SHOULD',
      side: 'server',
      says: 'A server for old clients has the two old addresses beside the new one.',
    },
    {
      id: 'H14b',
      level: 'SHOULD',
      side: 'client',
      says: 'A client for old servers tries a POST, and after 400, 404 or 405 a GET that brings an `endpoint`.',
    },
    {
      id: 'H14c',
      level: 'SHOULD',
      side: 'client',
      says: 'After the `endpoint` the client keeps to the old transport.',
    },
  ]),
  ...under('basic/utilities/tasks / Input Required Status', november2025, [
    {
      id: 'H15',
      level: 'SHOULD',
      side: 'client',
      says: 'Messages about tasks are taken from whichever stream they come on, that of the GET included.',
    },
    {
      id: 'H15b',
      level: 'SHOULD',
      side: 'server',
      says: 'A request `tasks/get` is not answered with a stream.',
    },
  ]),
  ...under('basic/transports / HTTP with SSE', oldest, [
    {
      id: 'P1',
      level: 'MUST',
      side: 'server',
      says: 'There are two addresses: one for an event stream, and one that messages are posted to.',
    },
    {
      id: 'P2',
      level: 'MUST',
      side: 'server',
      says: 'The stream begins with an event `endpoint` that says where messages go.',
    },
    {
      id: 'P3',
      level: 'MUST',
      side: 'client',
      says: 'All messages of the client are posted there.',
    },
    {
      id: 'P4',
      level: 'MUST',
      side: 'server',
      says: 'All messages of the server are events `message` of the stream, in JSON.',
    },
  ]),
]
