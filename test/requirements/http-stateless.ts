import { application, stateless, under } from './table.ts'

/** A reason why no test can show it: this package has no intermediary between a client and a server. */
const between = 'nothing here passes requests on'

/** Stateless HTTP, where every request carries its own metadata. */
export const httpStateless = [
  ...under('basic/transports/streamable-http / Streamable HTTP', stateless, [
    { id: 'N1', level: 'MUST', side: 'server', says: 'One path takes POST.' },
  ]),
  ...under('basic/transports/streamable-http / Sending Messages', stateless, [
    { id: 'N3', level: 'MUST', side: 'client', says: 'Each message is a POST of its own.' },
    {
      id: 'N3b',
      level: 'MUST',
      side: 'client',
      says: 'The `Accept` of a POST lists both JSON and event streams.',
    },
    {
      id: 'N3c',
      level: 'MUST',
      side: 'client',
      says: 'Every POST has the headers that repeat its request.',
    },
    {
      id: 'N3d',
      level: 'MUST',
      side: 'both',
      says: 'A body is one request or notification, never a batch.',
    },
    { id: 'N3e', level: 'MUST', side: 'client', says: 'The client sends no responses.' },
    {
      id: 'N4',
      level: 'MUST',
      side: 'server',
      says: 'A notification that is accepted is answered with 202 and no body.',
    },
    {
      id: 'N4b',
      level: 'MUST',
      side: 'server',
      says: 'One that is not accepted is answered with a status of an error.',
    },
    {
      id: 'N5',
      level: 'MUST',
      side: 'server',
      says: 'A request is answered with JSON or with an event stream.',
    },
    { id: 'N5b', level: 'MUST', side: 'client', says: 'The client can read both.' },
  ]),
  ...under('basic/transports/streamable-http / Receiving Messages', stateless, [
    {
      id: 'N6',
      level: 'MUST',
      side: 'server',
      says: 'The notifications on a stream belong to its request.',
    },
    { id: 'N6b', level: 'MUST', side: 'server', says: 'No stream brings requests.' },
    { id: 'N6c', level: 'SHOULD', side: 'server', says: 'The response ends the stream.' },
    {
      id: 'N6d',
      level: 'SHOULD',
      side: 'server',
      says: 'A stream has the header `X-Accel-Buffering: no`.',
    },
    {
      id: 'N6e',
      level: 'SHOULD',
      side: 'server',
      says: 'A stream that is silent for long is kept open by comments.',
    },
    { id: 'N6f', level: 'MUST', side: 'client', says: 'Comments on a stream are passed over.' },
  ]),
  ...under('basic/transports/streamable-http / Cancellation', stateless, [
    {
      id: 'N7',
      level: 'MUST',
      side: 'server',
      says: 'A client that closes the stream of a request has cancelled it.',
    },
    {
      id: 'N7b',
      level: 'SHOULD',
      side: 'server',
      says: 'The work on that request stops soon.',
    },
    { id: 'N7c', level: 'MUST', side: 'server', says: 'Nothing more is sent for that request.' },
  ]),
  ...under('basic/patterns/cancellation / Transport-Specific Cancellation, Timeouts', stateless, [
    {
      id: 'N7d',
      level: 'SHOULD',
      side: 'client',
      says: 'To cancel, also after a timeout, the client closes the stream, and sends no notification.',
    },
  ]),
  ...under('basic/transports/streamable-http / Protocol Version Header', stateless, [
    {
      id: 'N8',
      level: 'MUST',
      side: 'client',
      says: 'Every POST has `MCP-Protocol-Version`, which is the version in its `_meta`.',
    },
    {
      id: 'N8c',
      level: 'MUST',
      side: 'server',
      says: 'A request whose two versions differ is answered with 400 and -32020.',
    },
    {
      id: 'N8d',
      level: 'MUST',
      side: 'server',
      says: 'A version that is not served is answered with 400 and -32022, which lists those that are.',
    },
    {
      id: 'N8e',
      level: 'MUST',
      side: 'server',
      says: 'A method that does not exist is answered with 404 and -32601.',
    },
    {
      id: 'N8f',
      level: 'MUST',
      side: 'server',
      says: 'A server that does not know older clients refuses requests without the header.',
    },
  ]),
  ...under('basic / `_meta`, Per-request protocol fields', stateless, [
    {
      id: 'N19',
      level: 'MUST',
      side: 'server',
      says: 'A request that lacks a field which `_meta` must have is answered with 400.',
    },
    {
      id: 'N19b',
      level: 'MUST',
      side: 'server',
      says: 'A request that lacks a capability which it needs is answered with 400.',
    },
  ]),
  ...under('basic/transports/streamable-http / Standard Request Headers', stateless, [
    {
      id: 'N9',
      level: 'MUST',
      side: 'client',
      says: 'Every request has its method in `Mcp-Method`.',
    },
    {
      id: 'N9b',
      level: 'MUST',
      side: 'client',
      says: 'The header `Mcp-Name` is the name of a tool or prompt that is called, or the URI of a resource that is read.',
    },
    {
      id: 'N9c',
      level: 'MUST',
      side: 'client',
      says: 'What a header cannot carry stands in `Mcp-Name` as Base64.',
    },
  ]),
  ...under('seps/2663 / Streamable HTTP: Routing Headers', stateless, [
    {
      id: 'N9d',
      level: 'MUST',
      side: 'client',
      says: 'The header `Mcp-Name` of `tasks/get`, `tasks/update` and `tasks/cancel` is the id of the task.',
    },
  ]),
  ...under('basic/transports/streamable-http / Custom Headers from Tool Parameters', stateless, [
    {
      id: 'N10',
      level: 'MUST',
      side: 'client',
      says: 'Arguments with an `x-mcp-header` are repeated in headers `Mcp-Param-*`.',
    },
    {
      id: 'N10b',
      level: 'MUST',
      side: 'client',
      says: 'Tools with an `x-mcp-header` that breaks the rules are left out of the list.',
    },
    {
      id: 'N10c',
      level: 'SHOULD',
      side: 'client',
      says: 'The name of such a tool and the reason are reported.',
    },
  ]),
  ...under('basic/transports/streamable-http / Value Encoding', stateless, [
    {
      id: 'N11',
      level: 'MUST',
      side: 'client',
      says: 'Strings stand in headers as they are, integers in decimal digits, booleans as `true` and `false`.',
    },
    {
      id: 'N11b',
      level: 'MUST',
      side: 'client',
      says: 'Values that are not plain ASCII, or have space around them, stand there as Base64 of UTF-8 between `=?base64?` and `?=`.',
    },
    {
      id: 'N11c',
      level: 'MUST',
      side: 'client',
      says: 'So do values that only look like that.',
    },
    {
      id: 'N11d',
      level: 'MUST',
      side: 'server',
      says: 'The markers count only as they are spelt.',
    },
    {
      id: 'N11e',
      level: 'MUST',
      side: 'server',
      says: 'The server decodes such values before it compares them.',
    },
  ]),
  ...under('basic/transports/streamable-http / Client Behavior', stateless, [
    {
      id: 'N12',
      level: 'MUST',
      side: 'client',
      says: 'An argument that is missing or null has no header.',
    },
    {
      id: 'N12b',
      level: 'SHOULD',
      side: 'client',
      says: 'After -32020 for a header of an argument, the client lists the tools again and repeats the call.',
    },
  ]),
  ...under('basic/transports/streamable-http / Server Behavior for Custom Headers', stateless, [
    {
      id: 'N13',
      level: 'MUST',
      side: 'server',
      says: 'Intermediaries forward unknown `Mcp-Param-*` headers.',
      beyond: between,
    },
    {
      id: 'N13b',
      level: 'MUST',
      side: 'server',
      says: 'A known `Mcp-Param-*` with characters that it must not have is refused.',
    },
    {
      id: 'N13c',
      level: 'MUST',
      side: 'server',
      says: 'A `Mcp-Param-*` that is not its argument is refused with 400 and -32020.',
    },
    {
      id: 'N13d',
      level: 'MUST',
      side: 'server',
      says: 'For an argument that is missing or null no header is expected.',
    },
    {
      id: 'N13e',
      level: 'MUST',
      side: 'server',
      says: 'An argument whose header is missing is refused.',
    },
  ]),
  ...under('basic/transports/streamable-http / Case Sensitivity', stateless, [
    {
      id: 'N14',
      level: 'MUST',
      side: 'both',
      says: 'The case of the names of headers does not matter.',
    },
    { id: 'N14b', level: 'MUST', side: 'server', says: 'The case of their values does.' },
  ]),
  ...under('basic/transports/streamable-http / Server Validation', stateless, [
    {
      id: 'N15',
      level: 'MUST',
      side: 'server',
      says: 'A request whose headers do not agree with its body is refused with 400 and -32020.',
    },
    {
      id: 'N15c',
      level: 'MUST',
      side: 'server',
      says: 'So is one that lacks `MCP-Protocol-Version`, `Mcp-Method` or `Mcp-Name`.',
    },
    {
      id: 'N15b',
      level: 'SHOULD',
      side: 'server',
      says: 'Integers are compared as numbers.',
    },
    {
      id: 'N15d',
      level: 'MUST',
      side: 'server',
      says: 'An intermediary that checks headers responds with an error status.',
      beyond: between,
    },
    {
      id: 'N15e',
      level: 'SHOULD',
      side: 'server',
      says: 'An intermediary that decides by headers makes sure that servers of that version check the headers.',
      beyond: between,
    },
  ]),
  ...under('basic/transports/streamable-http / Backward Compatibility', stateless, [
    {
      id: 'N16',
      level: 'SHOULD',
      side: 'client',
      says: 'After 400 the body decides: an error that only a stateless server knows is no reason to fall back.',
    },
    {
      id: 'N16b',
      level: 'SHOULD',
      side: 'client',
      says: 'Anything else in the body is, and the client goes on with `initialize`.',
    },
  ]),
  ...under('basic/transports/streamable-http / Earlier Streamable HTTP Revisions', stateless, [
    {
      id: 'N17',
      level: 'SHOULD',
      side: 'server',
      says: 'A server without sessions answers GET and DELETE with 405.',
    },
    {
      id: 'N17b',
      level: 'SHOULD',
      side: 'server',
      says: 'The id of a session is ignored, and none is given.',
    },
    { id: 'N17c', level: 'SHOULD', side: 'server', says: 'A `Last-Event-ID` is ignored.' },
  ]),
  ...under('basic/transports/streamable-http / HTTP+SSE Transport (2024-11-05)', stateless, [
    {
      id: 'N18',
      level: 'SHOULD',
      side: 'both',
      says: 'New programs do not build on HTTP+SSE, and others leave it.',
      beyond: application,
    },
  ]),
]
