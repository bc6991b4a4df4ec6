import {
  application,
  every,
  june2025,
  march2025,
  sessions,
  sinceJune2025,
  sinceMarch2025,
  sinceNovember2025,
  stateless,
  under,
} from './table.ts'

/** The base protocol: messages, errors, `_meta`, schemas, icons. */
export const base = [
  ...under('basic / Messages', every, [
    {
      id: 'B1',
      level: 'MUST',
      side: 'both',
      says: 'Every message is one of JSON-RPC 2.0, with `jsonrpc` set to "2.0".',
    },
    {
      id: 'B22',
      level: 'MUST',
      side: 'both',
      says: 'The base protocol, the lifecycle or versioning, and the message patterns of a revision are implemented in full; everything else is optional.',
    },
    {
      id: 'B24',
      level: 'MUST',
      side: 'both',
      says: 'A request for a method that the revision does not have is answered with -32601.',
    },
  ]),
  ...under('basic/transports / Messages', sinceMarch2025, [
    { id: 'B1b', level: 'MUST', side: 'both', says: 'Messages are encoded in UTF-8.' },
  ]),
  ...under('basic / Messages, Requests', every, [
    {
      id: 'B2',
      level: 'MUST',
      side: 'both',
      says: 'The id of a request is a string or an integer, and never null.',
    },
  ]),
  ...under('basic / Messages, Requests', sessions, [
    {
      id: 'B3',
      level: 'MUST',
      side: 'both',
      says: 'A sender uses no request id twice within a session.',
    },
  ]),
  ...under('basic / Messages, Requests', stateless, [
    {
      id: 'B4',
      level: 'MUST',
      side: 'client',
      says: 'The id of a request differs from those of all requests that still wait for their responses.',
    },
  ]),
  ...under('basic / Messages, Responses', every, [
    {
      id: 'B5',
      level: 'MUST',
      side: 'both',
      says: 'A response carries the id of the request it answers.',
    },
    {
      id: 'B5b',
      level: 'MUST',
      side: 'both',
      says: 'A response has either a result or an error, and never both.',
    },
    { id: 'B5c', level: 'MUST', side: 'both', says: 'An error has an integer code and a message.' },
  ]),
  ...under('schema / Error', every, [
    {
      id: 'B6b',
      level: 'SHOULD',
      side: 'both',
      says: 'The message of an error is one short sentence.',
    },
  ]),
  ...under('basic / Messages, Error Responses', sinceNovember2025, [
    {
      id: 'B6',
      level: 'MUST',
      side: 'both',
      says: 'Only the answer to a message whose id could not be read goes without an id.',
    },
  ]),
  ...under('basic / Messages, Notifications', every, [
    { id: 'B7', level: 'MUST', side: 'both', says: 'A notification has no id.' },
    { id: 'B7b', level: 'MUST', side: 'both', says: 'A notification is never answered.' },
  ]),
  ...under('basic / Batching', march2025, [
    {
      id: 'B8',
      level: 'MUST',
      side: 'both',
      says: 'A batch that arrives is taken, and each request in it is answered.',
    },
  ]),
  ...under('basic/lifecycle / Initialization', march2025, [
    {
      id: 'B8b',
      level: 'MUST',
      side: 'client',
      says: 'The request `initialize` is never part of a batch.',
    },
  ]),
  ...under('changelog / Major changes', sinceJune2025, [
    {
      id: 'B8c',
      level: 'MUST',
      side: 'both',
      says: 'A batch is no message any more: it is refused, and nothing in it is carried out.',
    },
  ]),
  ...under('basic / Messages, ResultType', stateless, [
    { id: 'B9', level: 'MUST', side: 'server', says: 'Every result has a `resultType`.' },
    {
      id: 'B9b',
      level: 'MUST',
      side: 'both',
      says: 'The values of `resultType` are those of the core and those of extensions that were advertised.',
    },
    {
      id: 'B10',
      level: 'MUST',
      side: 'client',
      says: 'A result without `resultType` counts as complete.',
    },
    {
      id: 'B10b',
      level: 'MUST',
      side: 'client',
      says: 'A result whose `resultType` is not known is invalid.',
    },
  ]),
  ...under('basic / Messages, Error Codes', stateless, [
    {
      id: 'B21',
      level: 'SHOULD',
      side: 'both',
      says: 'No code between -32019 and -32000 is used, least of all a new one.',
    },
    {
      id: 'B21c',
      level: 'MUST',
      side: 'both',
      says: 'No meaning is read into a code between -32019 and -32000, other than -32002.',
    },
    {
      id: 'B21d',
      level: 'MUST',
      side: 'both',
      says: 'Between -32099 and -32020 only codes that the specification defines are sent, in their own meaning.',
    },
    {
      id: 'B21f',
      level: 'MUST',
      side: 'server',
      says: 'The codes -32002 and -32042 of earlier revisions are not sent.',
    },
    {
      id: 'B21g',
      level: 'SHOULD',
      side: 'both',
      says: 'Codes for other purposes lie outside of -32768 to -32000.',
    },
  ]),
  ...under('basic / Message Patterns', stateless, [
    { id: 'B14', level: 'MUST', side: 'server', says: 'A server sends no requests.' },
    { id: 'B14b', level: 'MUST', side: 'client', says: 'A client sends no responses.' },
  ]),
  ...under('basic / Statelessness', stateless, [
    {
      id: 'B15',
      level: 'MUST',
      side: 'server',
      says: 'No earlier request on the connection is needed to understand a request, nor does it change what a later one means.',
    },
    {
      id: 'B15b',
      level: 'SHOULD',
      side: 'server',
      says: 'Requests of several conversations may come mixed.',
    },
    {
      id: 'B15c',
      level: 'SHOULD',
      side: 'server',
      says: 'Requests that belong together may come over different connections or processes.',
    },
    {
      id: 'B15d',
      level: 'SHOULD',
      side: 'client',
      says: 'The process of a server does not live and die with one conversation.',
    },
    {
      id: 'B15e',
      level: 'MUST',
      side: 'both',
      says: 'State that outlives a request is named by an identifier that the client sends each time.',
    },
  ]),
  ...under('basic / `_meta`', sinceJune2025, [
    {
      id: 'B11',
      level: 'MUST',
      side: 'both',
      says: 'A `_meta` key is a name, before which a prefix of dotted labels with a slash may stand; labels and names begin and end as the grammar says.',
    },
    {
      id: 'B11d',
      level: 'MUST',
      side: 'both',
      says: 'Nothing is assumed about the values of reserved `_meta` keys.',
    },
  ]),
  ...under('basic / `_meta`', sinceNovember2025, [
    { id: 'B11e', level: 'SHOULD', side: 'both', says: 'Prefixes are domain names turned around.' },
    {
      id: 'B12b',
      level: 'MUST',
      side: 'both',
      says: 'A prefix is reserved if its second label is `modelcontextprotocol` or `mcp`.',
    },
  ]),
  ...under('basic / `_meta`', june2025, [
    {
      id: 'B12',
      level: 'MUST',
      side: 'both',
      says: 'A prefix is reserved if a label `modelcontextprotocol` or `mcp` in it is followed by one more.',
    },
  ]),
  ...under('basic / `_meta`, OpenTelemetry trace context', stateless, [
    {
      id: 'B13',
      level: 'MUST',
      side: 'both',
      says: 'The values of `traceparent`, `tracestate` and `baggage` have the formats of the W3C.',
    },
  ]),
  ...under('basic / JSON Schema Usage', sinceNovember2025, [
    {
      id: 'B17',
      level: 'MUST',
      side: 'both',
      says: 'A schema without `$schema` is read as JSON Schema 2020-12.',
    },
    {
      id: 'B17b',
      level: 'MUST',
      side: 'both',
      says: 'A schema with `$schema` is read in the dialect it names.',
    },
    {
      id: 'B17c',
      level: 'MUST',
      side: 'both',
      says: 'A dialect that is not supported gives an error that says so.',
    },
    {
      id: 'B17d',
      level: 'SHOULD',
      side: 'both',
      says: 'The documentation names the dialects that are supported.',
    },
    {
      id: 'B17e',
      level: 'MUST',
      side: 'both',
      says: 'A schema that is sent is valid in its own dialect.',
    },
  ]),
  ...under('basic / `$ref` Resolution', stateless, [
    {
      id: 'B18',
      level: 'MUST',
      side: 'both',
      says: 'A `$ref` to an address on the network is never fetched unasked.',
    },
    {
      id: 'B18b',
      level: 'MUST',
      side: 'both',
      says: 'A mode that fetches such references is off unless it is switched on.',
    },
    {
      id: 'B18c',
      level: 'SHOULD',
      side: 'both',
      says: 'A mode that fetches such references restricts the hosts, the time and the size, and logs what it fetches.',
      beyond: 'nothing here fetches references',
    },
    {
      id: 'B18d',
      level: 'SHOULD',
      side: 'both',
      says: 'A schema with an outside `$ref` that is not resolved is refused, instead of letting everything pass.',
    },
  ]),
  ...under('basic / Composition-Keyword Resource Use', stateless, [
    {
      id: 'B19',
      level: 'SHOULD',
      side: 'both',
      says: 'Depth, number of subschemas, or time of a validation are bounded.',
    },
  ]),
  ...under('basic / `icons`', sinceNovember2025, [
    {
      id: 'B20',
      level: 'MUST',
      side: 'client',
      says: 'An icon whose address is neither `https:` nor `data:` is refused.',
    },
    {
      id: 'B20b',
      level: 'MUST',
      side: 'client',
      says: 'Icons are fetched without credentials or redirects to other origins, and checked by their bytes before they are shown.',
      beyond: application,
    },
    {
      id: 'B20c',
      level: 'MUST',
      side: 'client',
      says: 'A client that shows icons supports PNG and JPEG.',
      beyond: application,
    },
    {
      id: 'B20d',
      level: 'SHOULD',
      side: 'client',
      says: 'A client that shows icons supports SVG and WebP too.',
      beyond: application,
    },
    {
      id: 'B20e',
      level: 'SHOULD',
      side: 'client',
      says: 'Icons come from the origin of the server or one that is trusted, and SVG is handled with care.',
      beyond: application,
    },
  ]),
  ...under('basic / Auth', sinceMarch2025, [
    {
      id: 'B23',
      level: 'SHOULD',
      side: 'both',
      says: 'On stdio there is no authorization protocol: credentials come from the environment.',
    },
  ]),
  ...under('index / Security and Trust & Safety', every, [
    {
      id: 'B25',
      level: 'SHOULD',
      side: 'both',
      says: 'Consent, access control and the protection of data are built into the application and documented.',
      beyond: application,
    },
  ]),
]
